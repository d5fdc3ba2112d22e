"""Sum, mean or maximum over the in-edges of each node."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.ops.csr import edges
from graphtrial.ops.maximum import maximum
from graphtrial.ops.spmm import weighted_sum

Reduce = Literal["sum", "mean", "max"]


def aggregate(
    graph: GraphBatch, x: Tensor, reduce: Reduce = "sum", weight: Tensor | None = None, own: Tensor | None = None
) -> Tensor:
    """Return for each node the sum, mean or maximum of `x` over its in-neighbours; 0 where it has none.

    x: [nodes, width], or [nodes, heads, width] with weight [edges, heads]. A weight [edges] or [edges, heads]
    multiplies what comes over each edge; a mean divides by the number of in-edges. `own`, a single number, adds so much
    of the node's own vector to a sum.
    """
    if own is not None and (reduce != "sum" or x.dim() != 2):
        raise GraphTrialError("only a sum without heads adds a share of the node's own vector")
    if reduce == "max":
        if weight is not None or x.dim() != 2:
            raise GraphTrialError("a maximum over neighbours takes neither weights nor heads")
        return maximum(edges(graph), x)
    if reduce not in ("sum", "mean"):
        raise GraphTrialError(f"cannot aggregate by '{reduce}': use sum, mean or max")
    if weight is None:
        weight = edge_weight(graph, reduce, x.dtype)
        weight = weight if x.dim() == 2 else weight.unsqueeze(1).expand(-1, x.shape[1])
    elif reduce == "mean":
        share = edge_weight(graph, "mean", x.dtype)
        weight = weight * (share if weight.dim() == 1 else share.unsqueeze(1))
    return weighted_sum(edges(graph), x, weight, own)


def symmetric_weight(graph: GraphBatch, dtype: torch.dtype) -> Tensor:
    """Return 1 / sqrt(out-degree of the source x in-degree of the target) for each edge, [edges]."""

    def make() -> Tensor:
        source, target = graph.edge_index
        product = graph.out_degree.index_select(0, source) * graph.in_degree.index_select(0, target)
        return product.to(dtype).rsqrt()

    return graph.cached(f"symmetric {dtype}", make)


def edge_weight(graph: GraphBatch, reduce: Reduce, dtype: torch.dtype) -> Tensor:
    """Return the share of each edge in a sum (1) or a mean (1 / in-degree of its target), [edges]."""

    def make() -> Tensor:
        if reduce == "sum":
            return torch.ones(graph.num_edges, dtype=dtype, device=graph.edge_index.device)
        return graph.in_degree.to(dtype).reciprocal().index_select(0, graph.edge_index[1])

    return graph.cached(f"edge {reduce} {dtype}", make)
