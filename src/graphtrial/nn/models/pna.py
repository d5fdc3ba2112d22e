"""Principal neighbourhood aggregation."""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn

from graphtrial.core.arguments import DropoutRate, NonNegativeInt, Width
from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.encoder import EdgeEncoder, NodeEncoder
from graphtrial.nn.head import make_head
from graphtrial.nn.neighbourhood.pna_layer import PNALayer, aggregation_factory
from graphtrial.nn.neighbourhood.scalers import Scalers
from graphtrial.nn.readout import Readout
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import ALL_LEVELS, Shapes

Aggregators = Literal["mean max min std", "mean max min", "sum", "max", "mean"]


@MODELS.register("pna", title="PNA")
class PNA(nn.Module):
    r"""Principal neighbourhood aggregation, Corso et al. 2020 (arXiv:2004.05718), as released for the benchmark's data.

    Embedding, `layers` of `PNALayer`, readout and MLP. :math:`\delta` of the scalers comes from the in-degrees of the
    training set (`Shapes.mean_log_degree`). The towers of the last layer are `narrowing` channels narrower than the
    others, and it has then no skip connection. Without `divide_input` every tower of all layers but the last reads all
    channels. Edge features are embedded in `edge_width` channels. The released MPNN is `aggregators="sum"` or `"max"`
    with `scalers="identity"`. Returns the logits [rows, outputs] of graphs, nodes, edges or pairs.
    """

    levels = ALL_LEVELS
    width_divisor = "towers"

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 4,
        towers: Width = 4,
        aggregators: Aggregators = "mean max min std",
        scalers: Scalers = "identity amplification attenuation",
        divide_input: bool = True,
        narrowing: NonNegativeInt = 0,
        edge_features: bool = False,
        edge_width: Width = 40,
        dropout: DropoutRate = 0.0,
        graph_norm: bool = True,
        readout: Readout = "sum",
    ) -> None:
        super().__init__()
        last = width - narrowing * towers
        if last < towers:
            raise GraphTrialError(f"narrowing of model 'pna' must be below width / towers = {width // towers}")
        self.node_encoder = NodeEncoder(shapes, width)
        self.edge_encoder = EdgeEncoder(shapes, edge_width, use_features=True) if edge_features else None
        edges = edge_width if edge_features else 0
        aggregation = aggregation_factory(
            shapes, towers=towers, aggregators=aggregators, scalers=scalers, edge_width=edges
        )

        def layer(outputs: int, *, divide: bool) -> PNALayer:
            inner = aggregation(width, outputs, divide=divide)
            return PNALayer(inner, width, outputs, dropout=dropout, graph_norm=graph_norm)

        self.layers = nn.ModuleList(layer(width, divide=divide_input) for _ in range(layers - 1))
        self.layers.append(layer(last, divide=True))
        self.head = make_head(shapes, last, layers, readout=readout, layer_heads=False)

    def forward(self, graph: GraphBatch) -> Tensor:
        x = self.node_encoder(graph)
        e = self.edge_encoder(graph) if self.edge_encoder is not None else None
        for layer in self.layers:
            x = layer(graph, x, e)
        out: Tensor = self.head(graph, [x])
        return out
