"""Directional graph network."""

from __future__ import annotations

from typing import Any, Literal

from torch import Tensor, nn

from graphtrial.core.arguments import DropoutRate, NonNegativeInt, Width
from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.encoder import EdgeEncoder, NodeEncoder
from graphtrial.nn.head import make_head
from graphtrial.nn.neighbourhood.aggregators import direction, direction_weights
from graphtrial.nn.neighbourhood.dgn_layer import DGNLayer, SimpleAggregation
from graphtrial.nn.neighbourhood.field import Field
from graphtrial.nn.neighbourhood.pna_layer import Aggregation, PNALayer
from graphtrial.nn.neighbourhood.scalers import Scalers
from graphtrial.nn.readout import Readout
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import ALL_LEVELS, Shapes

Aggregators = Literal[
    "mean dir1-dx max min",
    "mean dir1-dx dir2-dx max",
    "mean dir1-dx",
    "mean dir1-av",
    "mean dir1-dx dir2-dx",
    "mean dir1-av dir2-av",
    "mean dir1-av dir1-dx",
    "mean dir1-dx dir1-av",
    "mean",
]


@MODELS.register("dgn", title="DGN")
class DGN(nn.Module):
    """Directional graph network, Beaini et al. 2021 (arXiv:2010.02863), as released.

    Aggregators dirk-av and dirk-dx smooth and derive along the field of the k-th eigenvector of the Laplacian, the
    column k of the encoding, or with `coordinates` along the k-th coordinate of the nodes. Eigenvectors beyond the last
    k are not read, as released; other parts of the encoding are added to the node features by a linear layer. `layer`
    "complex" makes messages of both nodes and the edge, "simple" aggregates the neighbours' states; with `towers` (5 in
    the released code) complex layers are divided and mixed as in PNA, and those of the last layer are `narrowing`
    channels narrower. Edge features are embedded in `edge_width` channels. Returns the logits [rows, outputs] of
    graphs, nodes, edges or pairs.
    """

    levels = ALL_LEVELS
    version = 2
    width_divisor = "towers"
    needs_encoding = True

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 4,
        layer: Literal["complex", "simple"] = "complex",
        towers: NonNegativeInt = 0,
        aggregators: Aggregators = "mean dir1-dx max min",
        scalers: Scalers = "identity amplification attenuation",
        narrowing: NonNegativeInt = 0,
        coordinates: bool = False,
        edge_features: bool = False,
        edge_width: Width = 10,
        dropout: DropoutRate = 0.0,
        graph_norm: bool = True,
        readout: Readout = "mean",
    ) -> None:
        super().__init__()
        if layer == "simple" and (edge_features or towers):
            raise GraphTrialError("a simple layer of dgn reads no edge features and has no towers: use layer=complex")
        last = width - narrowing * max(1, towers)
        if last < max(1, towers):
            raise GraphTrialError(f"narrowing of model 'dgn' must be below {width // max(1, towers)}")
        self.aggregators = tuple(aggregators.split())
        self.field = Field(shapes, max(direction(name) for name in self.aggregators), coordinates=coordinates)
        common: dict[str, Any] = {
            "aggregators": self.aggregators,
            "scalers": tuple(scalers.split()),
            "delta": shapes.mean_log_degree or 1.0,
        }

        def make_layer(outputs: int) -> nn.Module:
            aggregation: nn.Module
            if layer == "simple":
                aggregation = SimpleAggregation(width, outputs, **common)
                return DGNLayer(aggregation, width, outputs, dropout=dropout, graph_norm=graph_norm)
            edges = edge_width if edge_features else 0
            aggregation = Aggregation(width, outputs, **common, towers=max(1, towers), divide=True, edge_width=edges)
            kind = PNALayer if towers else DGNLayer
            return kind(aggregation, width, outputs, dropout=dropout, graph_norm=graph_norm)

        plain = shapes.features_only()
        self.node_encoder = NodeEncoder(shapes if shapes.encoding_replaces else plain, width)
        others = 0 if shapes.encoding_replaces else len(self.field.others)
        self.position = nn.Linear(others, width) if others else None
        self.edge_encoder = EdgeEncoder(shapes, edge_width, use_features=True) if edge_features else None
        self.layers = nn.ModuleList(make_layer(width if at < layers - 1 else last) for at in range(layers))
        self.head = make_head(shapes, last, layers, readout=readout, layer_heads=False)

    def forward(self, graph: GraphBatch) -> Tensor:
        x = self.node_encoder(graph)
        if self.position is not None:
            x = x + self.position(self.field.other_columns(graph, x.dtype))
        e = self.edge_encoder(graph) if self.edge_encoder is not None else None
        directions = direction_weights(graph, self.field(graph, x.dtype), self.aggregators)
        for layer in self.layers:
            x = layer(graph, x, e, directions)
        out: Tensor = self.head(graph, [x])
        return out
