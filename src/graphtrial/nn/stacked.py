"""`GNN`: input encoder, residual blocks, readout and head around any message-passing layer."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from torch import Tensor, nn

from graphtrial.core.arguments import Width
from graphtrial.core.plugins.imports import registered_name
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.self_loops import add_remaining_self_loops
from graphtrial.nn.block import Block, BlockConfig
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.encoder import EdgeEncoder, NodeEncoder
from graphtrial.nn.head import make_head
from graphtrial.nn.layers import Dropout
from graphtrial.nn.readout import Readout
from graphtrial.nn.registry import MODELS, model_settings, stack_arguments
from graphtrial.nn.shapes import Shapes


class GNN(nn.Module):
    """Stack of residual blocks with one kind of layer, after Dwivedi et al. 2022 (arXiv:2003.00982), appendix B.

    Returns the logits [rows, outputs], one row per graph, node, edge or pair, by the level of the task. `convs` are the
    layers, one per block, all of the same `width`.

    - `gru`: update node states between blocks by one GRU cell that all blocks share.
    - `self_loops`: add self-loops before the first layer; the head gets the graph without them.
    - `raw_input`: the input encoder counts as the first layer, with activation and dropout.
    - `gated`: multiply the last node states by a learnt sigmoid gate of themselves.
    - `idle_edge_embedding`: keep an edge embedding that no layer reads, which the reference counts as parameters.
    """

    def __init__(
        self,
        shapes: Shapes,
        convs: list[Conv],
        block: BlockConfig,
        *,
        width: Width,
        readout: Readout,
        layer_heads: bool,
        edge_features: bool = False,
        gru: bool = False,
        self_loops: bool = False,
        raw_input: bool = False,
        gated: bool = False,
        idle_edge_embedding: bool = False,
    ) -> None:
        super().__init__()
        self.self_loops = self_loops
        self.reads_edges = any(conv.edge_state or conv.edge_input for conv in convs)
        self.node_encoder = NodeEncoder(shapes, width)
        with_edges = self.reads_edges or idle_edge_embedding
        self.edge_encoder = EdgeEncoder(shapes, width, use_features=edge_features) if with_edges else None
        self.first = nn.Sequential(nn.ReLU(), Dropout(block.dropout)) if raw_input else None
        self.blocks = nn.ModuleList(Block(conv, width, block, last=conv is convs[-1]) for conv in convs)
        self.gru = nn.GRUCell(width, width) if gru else None
        self.gate = nn.Linear(width, width) if gated else None
        self.head = make_head(shapes, width, len(convs), readout=readout, layer_heads=layer_heads)

    def forward(self, graph: GraphBatch) -> Tensor:
        looped = add_remaining_self_loops(graph) if self.self_loops else graph
        x = self.node_encoder(looped)
        if self.first is not None:
            x = self.first(x)
        e = self.edge_encoder(looped) if self.edge_encoder is not None and self.reads_edges else None
        states = [x]
        for block in self.blocks:
            new, e = block(looped, x, e)
            x = new if self.gru is None else self.gru(x, new)
            states.append(x)
        if self.gate is not None:
            states[-1] = self.gate(x).sigmoid() * x
        out: Tensor = self.head(graph, states)
        return out


@functools.cache
def model_class(kind: type[nn.Module]) -> type[nn.Module]:
    """Return the whole model of a registered class: the class itself, or the stack of blocks around a layer.

    As in PyG, where `GIN` is a model and `GINConv` a layer. Every model takes `shapes` (`Shapes.of(graphs, task)`) and
    its settings by keyword; a batch [graphs] goes in and predictions [examples, outputs] come out.
    """
    if not issubclass(kind, Conv):
        return kind
    name = registered_name(MODELS, kind)

    def init(self: GNN, shapes: Shapes, **settings: Any) -> None:
        convs, block, rest = stack_arguments(name, settings)
        GNN.__init__(self, shapes, convs, block, **rest)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("shapes", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Shapes),
        *(
            inspect.Parameter(key, keyword, default=inspect.Parameter.empty if value is None else value)
            for key, value in model_settings(name).items()
        ),
    ]
    doc = f"Whole model: input encoder, blocks of the layer below, readout and head.\n\n    {kind.__doc__}"
    members = {
        "__doc__": doc,
        "__module__": "graphtrial.nn",
        "__init__": init,
        "__signature__": inspect.Signature(parameters),
        "layer_class": kind,
    }
    return type(kind.__name__, (GNN,), members)
