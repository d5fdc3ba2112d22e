"""Sparse matrices in CSR and CSC form, as views of the pointers of a batch."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from graphtrial.core.lazy import lazy_property
from graphtrial.graphs import GraphBatch


@dataclass(frozen=True)
class SparseMatrix:
    """Sparsity pattern of a matrix in CSR and CSC form; values are a tensor of their own.

    - CSR: row i has the entries `rowptr[i]` to `rowptr[i + 1]` in the columns `col`;
    - CSC: column j has the entries `colptr[j]` to `colptr[j + 1]` in the rows `row`;
    - `perm`, `csc_perm`: position of each CSR or CSC entry in the value tensor, None for the identity.
    """

    rowptr: Tensor
    col: Tensor
    perm: Tensor | None
    colptr: Tensor
    row: Tensor
    csc_perm: Tensor | None

    @classmethod
    def from_coo(cls, row: Tensor, column: Tensor, rows: int, columns: int) -> SparseMatrix:
        """Build the matrix from COO entries sorted by row; values are in the order of the entries."""
        csc_perm = torch.argsort(column, stable=True)
        rowptr, colptr = (
            torch.cat([ids.new_zeros(1), torch.bincount(ids, minlength=size).cumsum(0)])
            for ids, size in ((row, rows), (column, columns))
        )
        return cls(rowptr, column, None, colptr, row.index_select(0, csc_perm), csc_perm)

    @property
    def tensors(self) -> tuple[Tensor, Tensor, Tensor | None, Tensor, Tensor, Tensor | None]:
        """All six tensors, in the order of the constructor."""
        return self.rowptr, self.col, self.perm, self.colptr, self.row, self.csc_perm

    @lazy_property
    def entry_rows(self) -> Tensor:
        """The row of each CSR entry, [entries]."""
        rows = torch.arange(len(self.rowptr) - 1, device=self.rowptr.device)
        return torch.repeat_interleave(rows, self.rowptr.diff(), output_size=len(self.col))

    @lazy_property
    def csc_columns(self) -> Tensor:
        """The column of each CSC entry, [entries]."""
        columns = torch.arange(len(self.colptr) - 1, device=self.colptr.device)
        return torch.repeat_interleave(columns, self.colptr.diff(), output_size=len(self.row))

    @lazy_property
    def csc_entries(self) -> Tensor | None:
        """The CSR entry of each CSC entry, None for the identity."""
        if self.perm is None:
            return self.csc_perm
        entry = torch.empty_like(self.perm)
        entry[self.perm] = torch.arange(len(entry), device=entry.device)
        return entry if self.csc_perm is None else entry.index_select(0, self.csc_perm)

    def in_row_order(self) -> SparseMatrix:
        """Return the same pattern with values in the order of the CSR entries."""
        if self.perm is None:
            return self
        return SparseMatrix(self.rowptr, self.col, None, self.colptr, self.row, self.csc_entries)

    def transpose(self) -> SparseMatrix:
        """Return the transpose: CSR and CSC change places."""
        return SparseMatrix(self.colptr, self.row, self.csc_perm, self.rowptr, self.col, self.perm)


def adjacency(graph: GraphBatch) -> SparseMatrix:
    """Return the adjacency matrix [target nodes, source nodes]; values are in the order of `edge_index`."""

    def compute() -> SparseMatrix:
        source, target = graph.edge_index
        row = target.index_select(0, graph.out_order)
        return SparseMatrix(graph.in_ptr, source, None, graph.out_ptr, row, graph.out_order)

    return graph.cached("adjacency", compute)


def incidence(graph: GraphBatch) -> SparseMatrix:
    """Return the incidence matrix [target nodes, edges]; values are in the order of `edge_index`."""

    def compute() -> SparseMatrix:
        edges = torch.arange(graph.num_edges + 1, device=graph.edge_index.device)
        return SparseMatrix(graph.in_ptr, edges[:-1], None, edges, graph.edge_index[1], None)

    return graph.cached("incidence", compute)


def membership(graph: GraphBatch) -> SparseMatrix:
    """Return the pooling matrix [graphs, nodes] of the batch; values are in the order of the nodes."""

    def compute() -> SparseMatrix:
        nodes = torch.arange(graph.num_nodes + 1, device=graph.batch.device)
        return SparseMatrix(graph.ptr, nodes[:-1], None, nodes, graph.batch, None)

    return graph.cached("membership", compute)


def virtual_membership(graph: GraphBatch, count: int) -> SparseMatrix:
    """Return the matrix [graphs * count, nodes] of `count` virtual nodes of each graph, linked to all of its nodes."""

    def compute() -> SparseMatrix:
        nodes = torch.arange(graph.num_nodes, device=graph.batch.device)
        row = graph.batch.unsqueeze(1) * count + torch.arange(count, device=nodes.device)
        rows = graph.num_graphs * count
        sizes = torch.repeat_interleave(graph.ptr.diff(), count, output_size=rows)
        rowptr = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
        place = nodes - graph.ptr.index_select(0, graph.batch)
        entry = (rowptr[row] + place.unsqueeze(1)).flatten()
        col = torch.empty_like(entry)
        col[entry] = nodes.unsqueeze(1).expand(-1, count).flatten()
        colptr = count * torch.arange(len(nodes) + 1, device=entry.device)
        return SparseMatrix(rowptr, col, None, colptr, row.flatten(), entry)

    return graph.cached(f"membership of {count} virtual nodes", compute)
