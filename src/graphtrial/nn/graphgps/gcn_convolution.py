"""Graph convolution with self-loops, as in PyG."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.self_loops import add_remaining_self_loops
from graphtrial.nn.layers import Linear
from graphtrial.ops import aggregate


class GCNConvolution(nn.Module):
    r"""Graph convolution with self-loops, :math:`h_i' = \sum_j W h_j / \sqrt{d_j d_i} + b`, d in-degrees, as in PyG.

    Edge states are not used. x: [nodes, width] -> [nodes, width].
    """

    def __init__(self, width: int, *, bias: bool = True) -> None:
        super().__init__()
        self.linear = Linear(width, width, bias=False)
        self.bias = nn.Parameter(torch.zeros(width)) if bias else None
        nn.init.xavier_uniform_(self.linear.weight)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None = None) -> Tensor:
        looped = add_remaining_self_loops(graph)

        def weight() -> Tensor:
            scale = looped.in_degree.to(x.dtype).rsqrt()
            return scale[looped.edge_index[0]] * scale[looped.edge_index[1]]

        out = aggregate(looped, self.linear(x), "sum", graph.cached(f"gcn weight {x.dtype}", weight))
        return out if self.bias is None else out + self.bias
