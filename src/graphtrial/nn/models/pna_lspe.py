"""PNA with learnable positions."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.core.arguments import DropoutRate, Width
from graphtrial.graphs import GraphBatch
from graphtrial.nn.encoder import EdgeEncoder
from graphtrial.nn.head import make_head
from graphtrial.nn.lspe.ends import LSPEInput, LSPEOutput
from graphtrial.nn.lspe.pna_layer import PNALSPELayer
from graphtrial.nn.models.pna import Aggregators
from graphtrial.nn.neighbourhood.pna_layer import PNALayer, aggregation_factory
from graphtrial.nn.neighbourhood.scalers import Scalers
from graphtrial.nn.readout import Readout
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import ALL_LEVELS, Shapes


@MODELS.register("pna-lspe", title="PNA-LSPE")
class PNALSPE(nn.Module):
    """PNA with learnable structural and positional encodings, Dwivedi et al. 2022 (arXiv:2110.07875), as released.

    Positions start from the encoding, random-walk probabilities in the paper, and are updated by `PNALSPELayer`;
    normalised in each graph, they are merged into the node states before the readout. Without an encoding the model is
    PNA. Returns the logits [rows, outputs] of graphs, nodes, edges or pairs.
    """

    levels = ALL_LEVELS
    version = 2
    width_divisor = "towers"

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 16,
        towers: Width = 4,
        aggregators: Aggregators = "mean max min std",
        scalers: Scalers = "identity amplification attenuation",
        edge_features: bool = False,
        edge_width: Width = 40,
        dropout: DropoutRate = 0.0,
        graph_norm: bool = True,
        readout: Readout = "sum",
    ) -> None:
        super().__init__()
        edges = edge_width if edge_features else 0
        aggregation = aggregation_factory(
            shapes, towers=towers, aggregators=aggregators, scalers=scalers, edge_width=edges
        )

        def node_layer(inputs: int) -> PNALayer:
            inner = aggregation(inputs, width, divide=True, message_width=width)
            return PNALayer(inner, inputs, width, dropout=dropout, graph_norm=graph_norm)

        def layer() -> nn.Module:
            if not shapes.encoding_dim:
                return node_layer(width)
            return PNALSPELayer(node_layer(2 * width), aggregation(width, width, divide=True), width, dropout=dropout)

        self.input = LSPEInput(shapes, width)
        self.edge_encoder = EdgeEncoder(shapes, edge_width, use_features=True) if edge_features else None
        self.layers = nn.ModuleList(layer() for _ in range(layers))
        self.output = LSPEOutput(width, shapes.encoding_dim, normalize=True) if shapes.encoding_dim else None
        self.head = make_head(shapes, width, layers, readout=readout, layer_heads=False)

    def forward(self, graph: GraphBatch) -> Tensor:
        x, p = self.input(graph)
        e = self.edge_encoder(graph) if self.edge_encoder is not None else None
        for layer in self.layers:
            if p is None:
                x = layer(graph, x, e)
            else:
                x, p = layer(graph, x, p, e)
        if self.output is not None:
            x, _ = self.output(graph, x, p)
        out: Tensor = self.head(graph, [x])
        return out
