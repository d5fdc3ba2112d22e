"""Sum, mean or maximum over the in-edges of each node."""

from __future__ import annotations

from typing import Literal

from torch import Tensor

from graphtrial.errors import GraphTrialError
from graphtrial.graphs import GraphBatch

Reduce = Literal["sum", "mean", "max"]


def aggregate(graph: GraphBatch, x: Tensor, reduce: Reduce = "sum") -> Tensor:
    """Return for each node the sum, mean or maximum of `x` over its in-neighbours; 0 where it has none.

    x: [nodes, width] -> [nodes, width].
    """
    return reduce_edges(graph, x.index_select(0, graph.edge_index[0]), reduce)


def reduce_edges(graph: GraphBatch, messages: Tensor, reduce: Reduce = "sum") -> Tensor:
    """Return for each node the sum, mean or maximum of the messages on its in-edges; 0 where it has none.

    messages: [edges, width] -> [nodes, width].
    """
    out = messages.new_zeros(graph.num_nodes, *messages.shape[1:])
    target = graph.edge_index[1]
    if reduce == "max":
        index = target.view(-1, *[1] * (messages.dim() - 1)).expand_as(messages)
        return out.scatter_reduce(0, index, messages, "amax", include_self=False)
    if reduce not in ("sum", "mean"):
        raise GraphTrialError(f"cannot aggregate by '{reduce}': use sum, mean or max")
    out = out.index_add(0, target, messages)
    if reduce == "mean":
        out = out / graph.in_degree.clamp(min=1).to(out.dtype).view(-1, *[1] * (out.dim() - 1))
    return out
