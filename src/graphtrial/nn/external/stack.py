"""Message-passing layers of PyG in the residual blocks of `GNN`."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.block import BlockConfig
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.external.construct import Sizes, construct, needs_edges
from graphtrial.nn.external.inputs import Inputs
from graphtrial.nn.shapes import ALL_LEVELS, Shapes
from graphtrial.nn.stacked import GNN


class ExternalConv(Conv):
    """A layer of PyG as a layer of a block. x: [nodes, width], e: [edges, width] or None -> the same shapes."""

    def __init__(self, layer: nn.Module, inputs: Inputs, *, edges: bool) -> None:
        super().__init__()
        self.layer = layer
        self.inputs = inputs
        self.edge_input = edges

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        edges = e.expand(graph.num_edges, -1) if self.edge_input and e is not None else None
        return self.inputs.call(self.layer, graph, x, edges), e


class ExternalStack(GNN):
    """`layers` residual blocks around a message-passing class of PyG; subclasses made by `adapt` set the attributes."""

    levels = ALL_LEVELS
    kind: ClassVar[type[nn.Module]]
    inputs: ClassVar[Inputs]

    def __init__(self, shapes: Shapes, **settings: Any) -> None:
        uses_features = settings.get("edge_features", False)
        edges = uses_features or self.inputs.needs_edges or needs_edges(self.kind)
        sizes = Sizes(shapes, settings["width"], settings["layers"], edges)
        convs: list[Conv] = [
            ExternalConv(construct(self.kind, sizes, settings), self.inputs, edges=edges)
            for _ in range(settings["layers"])
        ]
        block = BlockConfig(settings["batch_norm"], settings["residual"], settings["dropout"])
        super().__init__(
            shapes,
            convs,
            block,
            width=settings["width"],
            readout=settings["readout"],
            layer_heads=False,
            edge_features=uses_features,
        )
