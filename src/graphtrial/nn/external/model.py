"""Whole models of other libraries, and layers stacked as they are, between encoders and head."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.encoder import EdgeEncoder, NodeEncoder
from graphtrial.nn.external.construct import Sizes, construct, inner_class, needs_edges
from graphtrial.nn.external.inputs import Inputs
from graphtrial.nn.head import GraphHead, make_head
from graphtrial.nn.shapes import ALL_LEVELS, Shapes


class ExternalModel(nn.Module):
    """Node and edge encoder, a module of another library or `layers` of them, readout and head.

    Subclasses made by `adapt` set the class attributes. The module maps node states [nodes, width] to node states of
    the same width, or, on graph-level tasks, to states of graphs [graphs, width], which are not pooled again. Returns
    the logits [rows, outputs] of graphs, nodes, edges or pairs.
    """

    levels = ALL_LEVELS
    kind: ClassVar[type[nn.Module]]
    inputs: ClassVar[Inputs]
    repeated: ClassVar[bool]
    """Whether the class is a layer, of which the model has `layers` one after another."""

    def __init__(self, shapes: Shapes, **settings: Any) -> None:
        super().__init__()
        width, layers = settings["width"], settings.get("layers", 1)
        inner = inner_class(settings["conv"]) if "conv" in settings else None
        uses_features = settings.get("edge_features", False)
        edges = uses_features or self.inputs.needs_edges or (inner is not None and needs_edges(inner))
        self.width, self.layers = width, layers
        self.node_encoder = NodeEncoder(shapes, width)
        self.edge_encoder = EdgeEncoder(shapes, width, use_features=uses_features) if edges else None
        sizes = Sizes(shapes, width, layers, edges)
        self.body = nn.ModuleList(construct(self.kind, sizes, settings) for _ in range(layers if self.repeated else 1))
        self.head = make_head(shapes, width, layers, readout=settings["readout"], layer_heads=False)

    def forward(self, graph: GraphBatch) -> Tensor:
        x = self.node_encoder(graph)
        e = None if self.edge_encoder is None else self.edge_encoder(graph).expand(graph.num_edges, -1)
        for module in self.body:
            x = self.inputs.call(module, graph, x, e)
        if not isinstance(x, Tensor) or x.shape[1:] != (self.width,):
            shape = list(x.shape) if isinstance(x, Tensor) else type(x).__name__
            raise GraphTrialError(f"the output of {self.kind.__name__} must be [nodes, {self.width}], not {shape}")
        if len(x) == graph.num_graphs != graph.num_nodes and isinstance(self.head, GraphHead):
            return self.head.score_pooled(x)
        if len(x) != graph.num_nodes:
            raise GraphTrialError(
                f"{self.kind.__name__} returns {len(x)} rows for {graph.num_nodes} nodes of {graph.num_graphs} graphs"
            )
        out: Tensor = self.head(graph, [x])
        return out
