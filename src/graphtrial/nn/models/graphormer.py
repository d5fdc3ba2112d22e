"""Graphormer, as released in version 1.0."""

from __future__ import annotations

import math

from torch import Tensor, nn

from graphtrial.core.arguments import DropoutRate, Width
from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs.complete import add_tokens
from graphtrial.graphs.pairs.layout import check_attention
from graphtrial.nn.encoder import embed, encoding_values
from graphtrial.nn.graphgps.graphormer_bias import STD, DegreeEmbedding, GraphToken
from graphtrial.nn.graphgps.padded_pair_bias import PaddedPairBias
from graphtrial.nn.layers import Dropout, Linear
from graphtrial.nn.models.graphormer_gps import GraphormerLayer
from graphtrial.nn.raw_features import require_level
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes

NODE_ROWS = 64


class GraphormerInput(nn.Module):
    """Embedding of node types in a table of 64 rows, or linear layer of continuous features, plus the encoding.

    Returns [nodes, width].
    """

    def __init__(self, shapes: Shapes, width: int) -> None:
        super().__init__()
        shapes.require_one_category("graphormer")
        if shapes.node_types >= NODE_ROWS:
            raise GraphTrialError(f"graphormer has room for {NODE_ROWS - 1} node types, not for {shapes.node_types}")
        self.feature: nn.Module | None = None
        if not (shapes.encoding_dim and shapes.encoding_replaces):
            self.feature = nn.Linear(shapes.node_dim, width) if shapes.node_dim else nn.Embedding(NODE_ROWS, width)
        self.encoding = nn.Linear(shapes.encoding_dim, width) if shapes.encoding_dim else None

    def forward(self, graph: GraphBatch) -> Tensor:
        position = None if self.encoding is None else embed(self.encoding, encoding_values(graph))
        if self.feature is None and position is not None:
            return position
        column = graph.x
        if isinstance(self.feature, nn.Embedding) and column is not None:
            column = column + 1  # row 0 is padding
        x = embed(self.feature, column)
        return x if position is None else x + position


@MODELS.register("graphormer", title="Graphormer")
class Graphormer(nn.Module):
    """Graphormer, Ying et al. 2021 (arXiv:2106.05234), as released in version 1.0.

    Pre-norm transformer with the biases of `PaddedPairBias` and embeddings of degrees; the out-degree replaces the
    in-degree, as released. A token node that attends to all nodes of its graph is the readout; layer norm and one
    linear layer are the head. An encoding is added to the node embedding. Returns [graphs or nodes, outputs].
    """

    levels = ("graph", "node")
    version = 2
    width_divisor = "heads"
    beyond_message_passing = True

    def __init__(
        self,
        shapes: Shapes,
        width: Width,
        layers: int = 12,
        heads: Width = 8,
        dropout: DropoutRate = 0.1,
        attention_dropout: DropoutRate = 0.1,
        input_dropout: DropoutRate = 0.1,
        edge_features: bool = False,
    ) -> None:
        super().__init__()
        self.heads = heads
        require_level("graphormer", shapes, self.levels)
        self.level = shapes.level
        self.input = GraphormerInput(shapes, width)
        self.degrees = DegreeEmbedding(width, out_degree_twice=True)
        self.pair_bias = PaddedPairBias(shapes, heads, use_edges=edge_features)
        self.token = GraphToken(width)
        self.input_dropout = Dropout(input_dropout)
        self.blocks = nn.ModuleList(
            GraphormerLayer(width, heads=heads, dropout=dropout, attention_dropout=attention_dropout, mlp_dropout=0.0)
            for _ in range(layers)
        )
        self.head = nn.Sequential(nn.LayerNorm(width), Linear(width, shapes.outputs))
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=STD / math.sqrt(layers))
                nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=STD)

    def forward(self, graph: GraphBatch) -> Tensor:
        check_attention(graph, self.heads, len(self.blocks), saved=2)
        with_token = add_tokens(graph)
        x = self.token(with_token, self.input(graph) + self.degrees(graph))
        x = self.input_dropout(x)
        biases = self.pair_bias(graph)
        for block in self.blocks:
            x = block(with_token.graph, x, biases)
        rows = with_token.tokens if self.level == "graph" else with_token.nodes
        out: Tensor = self.head(x.index_select(0, rows))
        return out
