"""Sum, mean or maximum of what the in-edges of each node carry."""

from __future__ import annotations

import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.ops.aggregate import Reduce, edge_weight
from graphtrial.ops.csr import CSR
from graphtrial.ops.maximum import maximum
from graphtrial.ops.spmm import weighted_sum


def collect(graph: GraphBatch, messages: Tensor, reduce: Reduce = "sum") -> Tensor:
    """Return for each node the sum, mean or maximum of the messages on its in-edges; 0 where it has none.

    For messages that are more than a neighbour's vector times a weight; those go through `aggregate`, which never makes
    them. messages: [edges, width] -> [nodes, width].
    """
    matrix = _in_edges(graph)
    if reduce == "max":
        return maximum(matrix, messages)
    if reduce not in ("sum", "mean"):
        raise GraphTrialError(f"cannot collect by '{reduce}': use sum, mean or max")
    return weighted_sum(matrix, messages, edge_weight(graph, reduce, messages.dtype))


def _in_edges(graph: GraphBatch) -> CSR:
    """Return the matrix whose row i has a 1 for each in-edge of node i, [nodes, edges]."""

    def make() -> CSR:
        edges = torch.arange(graph.num_edges + 1, device=graph.edge_index.device)
        return CSR(graph.in_ptr, edges[:-1], None, edges, graph.edge_index[1], None)

    return graph.cached("in-edges", make)
