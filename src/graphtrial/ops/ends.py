"""The vectors at both ends of each edge."""

from __future__ import annotations

import torch
from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.ops.csr import CSR
from graphtrial.ops.spmm import weighted_sum


def sum_of_ends(graph: GraphBatch, of_source: Tensor, of_target: Tensor) -> Tensor:
    """Return `of_source[source] + of_target[target]` for each edge.

    Its gradient sums over the edges of each node, in order, instead of scattering them. [nodes, width] twice ->
    [edges, width].
    """

    def ones() -> Tensor:
        return of_source.new_ones(2 * graph.num_edges)

    weight = graph.cached(f"ones for ends {of_source.dtype}", ones)
    return weighted_sum(_ends(graph), torch.cat([of_source, of_target]), weight)


def _ends(graph: GraphBatch) -> CSR:
    """Return the matrix [edges, 2 nodes] whose row has two entries: the source, and the target after all nodes."""

    def make() -> CSR:
        source, target = graph.edge_index
        ptr = torch.arange(0, 2 * graph.num_edges + 1, 2, device=source.device)
        index = torch.stack([source, target + graph.num_nodes], dim=1).flatten()
        t_ptr = torch.cat([graph.out_ptr, graph.in_ptr[1:] + graph.num_edges])
        t_index = torch.cat([graph.out_order, torch.arange(graph.num_edges, device=source.device)])
        return CSR(ptr, index, None, t_ptr, t_index, None)  # all entries are 1, so their order does not matter

    return graph.cached("ends", make)
