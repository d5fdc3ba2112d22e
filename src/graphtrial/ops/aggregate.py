"""Neighbourhood aggregation: sum, mean or max over the in-edges of each node."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.self_loops import add_remaining_self_loops
from graphtrial.ops.portable import at_least_32, full_precision
from graphtrial.ops.recording import recordable
from graphtrial.ops.sparse_matrix import adjacency, incidence
from graphtrial.ops.spmm import spmm
from graphtrial.ops.spmm_max import spmm_max

Reduce = Literal["sum", "mean", "max"]


@recordable
@full_precision
def aggregate(
    graph: GraphBatch,
    x: Tensor,
    reduce: Reduce = "sum",
    weight: Tensor | None = None,
    self_weight: Tensor | None = None,
) -> Tensor:
    r"""Aggregate the features of the in-neighbours of each node; nodes without in-edges get 0.

    .. math:: out_i = self\_weight \, x_i + \sum_{j \to i} weight_{ji} \, x_j

    or their mean (the sum divided by the in-degree) or elementwise maximum. No message tensor [edges, width] is
    materialised.

    x: [nodes, width], or [nodes, heads, width] with weight [edges, heads] -> the same shape. weight: [edges] or
    [edges, heads], for sum and mean. self_weight: scalar, for a sum without heads.
    """
    if self_weight is not None and (reduce != "sum" or x.dim() != 2):
        raise GraphTrialError("self_weight needs reduce='sum' and features without heads")
    if reduce == "max":
        if weight is not None or x.dim() != 2:
            raise GraphTrialError("reduce='max' takes neither weights nor heads")
        return spmm_max(adjacency(graph), x)
    if reduce not in ("sum", "mean"):
        raise GraphTrialError(f"cannot aggregate by '{reduce}': use sum, mean or max")
    if weight is None:
        weight = edge_weight(graph, reduce, x.dtype)
        weight = weight if x.dim() == 2 else weight.unsqueeze(1).expand(-1, x.shape[1])
    elif reduce == "mean":
        inverse_degree = edge_weight(graph, "mean", x.dtype)
        weight = weight * (inverse_degree if weight.dim() == 1 else inverse_degree.unsqueeze(1))
    return spmm(adjacency(graph), x, weight, self_weight)


@full_precision
def aggregate_messages(
    graph: GraphBatch, messages: Tensor, reduce: Reduce = "sum", weight: Tensor | None = None
) -> Tensor:
    """Aggregate the messages on the in-edges of each node, as `torch_geometric.utils.scatter` by target node.

    For messages that are more than a neighbour's features times a weight, which `aggregate` never materialises.
    messages: [edges, width] -> [nodes, width]; nodes without in-edges get 0. weight: factors of the messages of a sum,
    [edges], or [edges, heads] for messages [edges, heads, width].
    """
    if weight is not None and reduce != "sum":
        raise GraphTrialError("weights of messages need reduce='sum'")
    matrix = incidence(graph)
    if reduce == "max":
        return spmm_max(matrix, messages)
    if reduce not in ("sum", "mean"):
        raise GraphTrialError(f"cannot aggregate by '{reduce}': use sum, mean or max")
    if weight is not None:
        return spmm(matrix, messages, weight)
    return spmm(matrix, messages, edge_weight(graph, reduce, messages.dtype))


@recordable
def symmetric_weight(graph: GraphBatch, dtype: torch.dtype) -> Tensor:
    r"""Return the symmetric normalisation of GCN, :math:`1 / \sqrt{d^{out}_j d^{in}_i}` for each edge, [edges]."""

    dtype = at_least_32(dtype)

    def compute() -> Tensor:
        source, target = graph.edge_index
        product = graph.out_degree.index_select(0, source) * graph.in_degree.index_select(0, target)
        return product.to(dtype).rsqrt()

    return graph.cached(f"symmetric {dtype}", compute)


@recordable
def self_loop_scales(graph: GraphBatch, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    r"""Return :math:`1 / \sqrt{d_i}` and that of the self-loops to be added, both [nodes, 1].

    d are in-degrees with a self-loop of every node. Nodes that have one already get 0 for theirs.
    """

    def compute() -> tuple[Tensor, Tensor]:
        degree = add_remaining_self_loops(graph).in_degree
        scale = degree.to(dtype).rsqrt().unsqueeze(1)
        return scale, scale * (degree > graph.in_degree).unsqueeze(1)

    return graph.cached(f"self-loop scales {dtype}", compute)


@recordable
def edge_weight(graph: GraphBatch, reduce: Reduce, dtype: torch.dtype) -> Tensor:
    """Return the edge weights of a sum (1) or a mean (1 / in-degree of the target), [edges]."""

    def compute() -> Tensor:
        if reduce == "sum":
            return torch.ones(graph.num_edges, dtype=dtype, device=graph.edge_index.device)
        return graph.in_degree.to(dtype).reciprocal().index_select(0, graph.edge_index[1])

    return graph.cached(f"edge {reduce} {dtype}", compute)
