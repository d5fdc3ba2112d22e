"""Multi-head self-attention among all nodes of each graph."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.layers import Linear
from graphtrial.ops.graph_attention import graph_attention
from graphtrial.ops.self_attention import self_attention


class SelfAttention(nn.Module):
    """`torch.nn.MultiheadAttention` of each graph's nodes over themselves: parameters, initialisation and output.

    `dropout` acts on attention weights; `biases` are those of `ops.graph_attention.pair_blocks`. x: [nodes, width] ->
    [nodes, width].
    """

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.projection = Linear(width, 3 * width)
        self.output = Linear(width, width)
        nn.init.xavier_uniform_(self.projection.weight)
        nn.init.zeros_(self.projection.bias)
        nn.init.zeros_(self.output.bias)

    def forward(self, graph: GraphBatch, x: Tensor, biases: Sequence[Tensor] | None = None) -> Tensor:
        qkv, dropout = self.projection(x), self.dropout if self.training else 0.0
        if biases is None:
            attended = self_attention(graph, qkv, self.heads, dropout)
        else:
            q, k, v = qkv.view(len(x), 3, self.heads, x.shape[1] // self.heads).unbind(dim=1)
            attended = graph_attention(graph, q, k, v, biases, dropout).reshape(x.shape)
        out: Tensor = self.output(attended)
        return out
