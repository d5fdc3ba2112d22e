"""Sparse matrices in compressed rows, in both directions, read off a batch."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from graphtrial.graphs import GraphBatch


@dataclass(frozen=True)
class CSR:
    """A sparse matrix by rows and by columns.

    Row i has the entries `ptr[i]` to `ptr[i + 1]`, whose columns are `index`; column j has the entries `t_ptr[j]` to
    `t_ptr[j + 1]`, whose rows are `t_index`. `order` and `t_order` say where the value of each entry is kept, None
    where it is kept at its own place.
    """

    ptr: Tensor
    index: Tensor
    order: Tensor | None
    t_ptr: Tensor
    t_index: Tensor
    t_order: Tensor | None

    @classmethod
    def of_entries(cls, row: Tensor, column: Tensor, rows: int, columns: int) -> CSR:
        """Return the matrix with these entries, sorted by row; values are kept in their order."""
        order = torch.argsort(column, stable=True)
        ptr, t_ptr = (
            torch.cat([ids.new_zeros(1), torch.bincount(ids, minlength=size).cumsum(0)])
            for ids, size in ((row, rows), (column, columns))
        )
        return cls(ptr, column, None, t_ptr, row.index_select(0, order), order)

    @property
    def tensors(self) -> tuple[Tensor, Tensor, Tensor | None, Tensor, Tensor, Tensor | None]:
        """All six parts."""
        return self.ptr, self.index, self.order, self.t_ptr, self.t_index, self.t_order


def edges(graph: GraphBatch) -> CSR:
    """Return the matrix whose row i has the in-edges of node i; values are kept in the order of the edges."""

    def make() -> CSR:
        source, target = graph.edge_index
        return CSR(graph.in_ptr, source, None, graph.out_ptr, target.index_select(0, graph.out_order), graph.out_order)

    return graph.cached("edges", make)


def members(graph: GraphBatch) -> CSR:
    """Return the matrix whose row g has the nodes of graph g."""

    def make() -> CSR:
        nodes = torch.arange(graph.num_nodes + 1, device=graph.batch.device)
        return CSR(graph.ptr, nodes[:-1], None, nodes, graph.batch, None)

    return graph.cached("members", make)
