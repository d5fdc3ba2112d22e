"""GPS, the general, powerful, scalable graph transformer."""

from __future__ import annotations

from typing import Annotated, Literal

from torch import Tensor, nn

from graphtrial.core.arguments import Depth, DropoutRate, Range, Width
from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs.complete import add_tokens
from graphtrial.nn.graphgps.activation import Activation
from graphtrial.nn.graphgps.gps_layer import GPSLayer, Local
from graphtrial.nn.graphgps.graphormer_bias import DegreeEmbedding, GraphToken, PairBias
from graphtrial.nn.graphgps.head import Head, PredictionHead, SumOrMean
from graphtrial.nn.graphgps.inputs import EdgeInput, NodeFeatures, NodeInput
from graphtrial.nn.position.encoder import EigenEncoder, PositionConfig, require_eigenpairs, stable_positions
from graphtrial.nn.raw_features import require_level
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes


@MODELS.register("gps", title="GPS")
class GPS(nn.Module):
    """GPS, Rampášek et al. 2022 (arXiv:2205.12454): message passing in parallel with attention among all nodes.

    Encoded positions are concatenated to the embedded node features. `attention` "biased" adds the spatial, edge and
    degree biases of Graphormer; with `graph_token` a token node of each graph, without edges, takes part and is the
    readout. Head, encoders of positions and defaults are those of GraphGPS. Returns [graphs or nodes, outputs].
    """

    levels = ("graph", "node")
    width_divisor = "heads"

    def __init__(
        self,
        shapes: Shapes,
        width: Width,
        layers: Depth = 4,
        heads: Annotated[int, Range(1, 256)] = 4,
        local: Local = "gatedgcn",
        attention: Literal["full", "biased", "none"] = "full",
        dropout: DropoutRate = 0.0,
        attention_dropout: DropoutRate = 0.5,
        activation: Activation = "relu",
        edge_features: bool = False,
        node_features: NodeFeatures = "embedding",
        position_width: Annotated[int, Range(0, 4096)] = 0,
        eigen_width: Annotated[int, Range(0, 4096)] = 0,
        eigen_encoder: EigenEncoder = "deepset",
        eigen_layers: Depth = 2,
        graph_token: bool = False,
        readout: SumOrMean = "mean",
        head: Head = "graphgym",
        head_layers: Depth = 3,
        head_l2: bool = True,
    ) -> None:
        super().__init__()
        require_level("gps", shapes, self.levels)
        if local == "none" and attention == "none":
            raise GraphTrialError("gps needs local=gatedgcn or gine, or attention=full or biased")
        if graph_token and attention == "none":
            raise GraphTrialError(
                "the token of gps is reached by attention alone: use attention=full or biased with it"
            )
        if eigen_encoder not in ("deepset", "stable"):
            require_eigenpairs(shapes, eigen_encoder)
        positions = PositionConfig(position_width, eigen_width, eigen_encoder, eigen_layers, gates=local != "none")
        self.node_input = NodeInput(shapes, width, positions, node_features)
        self.edge_input = EdgeInput(shapes, width, use_features=edge_features)
        self.stable = stable_positions(shapes, positions, width)
        biased = attention == "biased"
        self.degrees = DegreeEmbedding(self.node_input.features) if biased else None
        self.pair_bias = PairBias(shapes, heads, token=graph_token, use_edges=edge_features) if biased else None
        self.token = GraphToken(width) if graph_token else None
        self.blocks = nn.ModuleList(
            GPSLayer(
                width,
                heads=heads,
                local=local,
                attention=attention != "none",
                dropout=dropout,
                attention_dropout=attention_dropout,
                activation=activation,
                stable=self.stable is not None,
                last=at == layers - 1,
            )
            for at in range(layers)
        )
        self.head = PredictionHead(
            shapes,
            width,
            kind=head,
            layers=head_layers,
            l2=head_l2,
            readout=readout,
            activation=activation,
            dropout=dropout,
        )
        self.level = shapes.level

    def forward(self, graph: GraphBatch) -> Tensor:
        x = self.node_input(graph, None if self.degrees is None else self.degrees(graph))
        e = self.edge_input(graph)
        position = None if self.stable is None else self.stable(graph)
        biases = None if self.pair_bias is None else self.pair_bias(graph)
        if self.token is None:
            for block in self.blocks:
                x, e = block(graph, x, e, position, biases)
            out: Tensor = self.head(graph, x)
            return out
        with_token = add_tokens(graph)
        x = self.token(with_token, x)
        if position is not None:
            position = position.new_zeros(len(x), position.shape[1]).index_copy(0, with_token.nodes, position)
        for block in self.blocks:
            x, e = block(with_token.graph, x, e, position, biases)
        out = self.head.mlp(x.index_select(0, with_token.tokens if self.level == "graph" else with_token.nodes))
        return out
