"""Graphormer, as in GraphGPS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from torch import Tensor, nn

from graphtrial.core.arguments import Depth, DropoutRate, Range, Width
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs.complete import add_tokens
from graphtrial.graphs.pairs.layout import check_attention
from graphtrial.nn.graphgps.graphormer_bias import DegreeEmbedding, GraphToken, PairBias
from graphtrial.nn.graphgps.inputs import NodeInput
from graphtrial.nn.graphgps.self_attention import SelfAttention
from graphtrial.nn.layers import Dropout, Linear
from graphtrial.nn.position.encoder import PositionConfig
from graphtrial.nn.raw_features import require_level
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes


class GraphormerLayer(nn.Module):
    """Transformer layer with layer norm first and biased attention. x: [nodes, width] -> [nodes, width]."""

    def __init__(self, width: int, *, heads: int, dropout: float, attention_dropout: float, mlp_dropout: float) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = SelfAttention(width, heads, attention_dropout)
        self.dropout = Dropout(dropout)
        self.mlp = nn.Sequential(
            nn.LayerNorm(width),
            Linear(width, width),
            nn.GELU(),
            Dropout(mlp_dropout),
            Linear(width, width),
            Dropout(dropout),
        )

    def forward(self, graph: GraphBatch, x: Tensor, biases: Sequence[Tensor]) -> Tensor:
        x = x + self.dropout(self.attention(graph, self.attention_norm(x), biases))
        out: Tensor = x + self.mlp(x)
        return out


@MODELS.register("graphormer-gps", title="Graphormer (GraphGPS)")
class GraphGPSGraphormer(nn.Module):
    """Graphormer, Ying et al. 2021 (arXiv:2106.05234), as in GraphGPS (arXiv:2205.12454).

    Embeddings of degrees are added to node states; attention has biases of distances and of edges along shortest paths
    (see `PairBias`). A token node attends to all nodes of its graph and is the readout. Layer norm and one linear layer
    are the head. Returns [graphs or nodes, outputs].
    """

    levels = ("graph", "node")
    width_divisor = "heads"
    beyond_message_passing = True

    def __init__(
        self,
        shapes: Shapes,
        width: Width,
        layers: Depth = 12,
        heads: Annotated[int, Range(1, 256)] = 8,
        dropout: DropoutRate = 0.0,
        attention_dropout: DropoutRate = 0.1,
        mlp_dropout: DropoutRate = 0.1,
        input_dropout: DropoutRate = 0.1,
        edge_features: bool = False,
        position_width: Annotated[int, Range(0, 4096)] = 0,
    ) -> None:
        super().__init__()
        self.heads = heads
        require_level("graphormer-gps", shapes, self.levels)
        self.node_input = NodeInput(shapes, width, PositionConfig(position_width))
        self.degrees = DegreeEmbedding(width)
        self.pair_bias = PairBias(shapes, heads, token=True, use_edges=edge_features)
        self.token = GraphToken(width)
        self.input_dropout = Dropout(input_dropout)
        self.blocks = nn.ModuleList(
            GraphormerLayer(
                width,
                heads=heads,
                dropout=dropout,
                attention_dropout=attention_dropout,
                mlp_dropout=mlp_dropout,
            )
            for _ in range(layers)
        )
        self.head = nn.Sequential(nn.LayerNorm(width), Linear(width, shapes.outputs))
        self.level = shapes.level

    def forward(self, graph: GraphBatch) -> Tensor:
        check_attention(graph, self.heads, len(self.blocks), saved=2)
        with_token = add_tokens(graph)
        biases = self.pair_bias(graph)
        x = self.token(with_token, self.node_input(graph) + self.degrees(graph))
        x = self.input_dropout(x)
        for block in self.blocks:
            x = block(with_token.graph, x, biases)
        rows = with_token.tokens if self.level == "graph" else with_token.nodes
        out: Tensor = self.head(x.index_select(0, rows))
        return out
