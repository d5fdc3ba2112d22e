"""Global pooling (readout): node features -> one vector per graph."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.ops.portable import full_precision
from graphtrial.ops.recording import recordable
from graphtrial.ops.sparse_matrix import membership
from graphtrial.ops.spmm import spmm
from graphtrial.ops.spmm_max import spmm_max

Readout = Literal["mean", "sum", "max", "set2set"]


@recordable
@full_precision
def pool(graph: GraphBatch, x: Tensor, how: str) -> Tensor:
    """Global mean, sum or max pooling; 0 for a graph without nodes. x: [nodes, width] -> [graphs, width]."""
    if how == "max":
        return spmm_max(membership(graph), x)
    if how not in ("mean", "sum"):
        raise GraphTrialError(f"no readout called '{how}': use {', '.join(get_args(Readout))}")

    def weights() -> Tensor:
        if how == "sum":
            return torch.ones(graph.num_nodes, dtype=x.dtype, device=x.device)
        return graph.ptr.diff().to(x.dtype).reciprocal().index_select(0, graph.batch)

    return spmm(membership(graph), x, graph.cached(f"pool {how} {x.dtype}", weights))


class Pool(nn.Module):
    """Global pooling by name, Set2Set included. x: [nodes, width] -> [graphs, self.width]."""

    def __init__(self, how: str, width: int) -> None:
        super().__init__()
        self.how = how
        self.set2set = Set2Set(width) if how == "set2set" else None
        self.width = 2 * width if how == "set2set" else width

    def forward(self, graph: GraphBatch, x: Tensor) -> Tensor:
        return pool(graph, x, self.how) if self.set2set is None else self.set2set(graph, x)


class Set2Set(nn.Module):
    r"""Set2Set pooling: `steps` of attention over the nodes of a graph, Vinyals et al. 2016 (arXiv:1511.06391).

    .. math::
        q_t = \mathrm{LSTM}(q_{t-1}^*), \quad
        \alpha_i = \mathrm{softmax}_i(x_i \cdot q_t), \quad
        r_t = \sum_i \alpha_i x_i, \quad q_t^* = [q_t \,\|\, r_t]

    x: [nodes, width] -> [graphs, 2 width].
    """

    def __init__(self, width: int, steps: int = 1) -> None:
        super().__init__()
        self.steps = steps
        self.lstm = nn.LSTMCell(2 * width, width)

    @full_precision
    def forward(self, graph: GraphBatch, x: Tensor) -> Tensor:
        query = x.new_zeros(graph.num_graphs, x.shape[1])
        cell, out = query, x.new_zeros(graph.num_graphs, 2 * x.shape[1])
        for _ in range(self.steps):
            query, cell = self.lstm(out, (query, cell))
            logits = (x * query.index_select(0, graph.batch)).sum(dim=1)
            top = logits.new_full((graph.num_graphs,), -torch.inf)
            top = top.scatter_reduce(0, graph.batch, logits.detach(), "amax")
            alpha = (logits - top.index_select(0, graph.batch)).exp()
            total = alpha.new_zeros(graph.num_graphs).index_add(0, graph.batch, alpha)
            pooled = spmm(membership(graph), x, alpha / total.index_select(0, graph.batch))
            out = torch.cat([query, pooled], dim=1)
        return out
