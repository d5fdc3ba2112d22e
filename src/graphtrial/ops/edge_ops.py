"""Functions of both endpoints of each edge: sum of node features, and dot product (SDDMM)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphtrial.core.hardware.threads import run
from graphtrial.graphs import GraphBatch
from graphtrial.ops.custom_op import array, register_op
from graphtrial.ops.portable import full_precision, gather, gather_rows, uses_kernels
from graphtrial.ops.recording import recordable
from graphtrial.ops.sparse_matrix import SparseMatrix, adjacency
from graphtrial.ops.spmm import spmm


@recordable
@full_precision
def edge_add(graph: GraphBatch, source: Tensor, target: Tensor) -> Tensor:
    """Return `source[j] + target[i]` for each edge from j to i (DGL's `u_add_v`).

    The gradient is a sum over the edges of each node in a fixed order, not a scatter. source, target: [nodes, width] ->
    [edges, width].
    """

    if not uses_kernels(source):
        matrix = adjacency(graph)
        return gather(matrix, source) + gather_rows(matrix, target)

    def ones() -> Tensor:
        return source.new_ones(2 * graph.num_edges)

    weight = graph.cached(f"ones for endpoints {source.dtype}", ones)
    return spmm(_endpoints(graph), torch.cat([source, target]), weight)


@full_precision
def edge_dot(graph: GraphBatch, target: Tensor, source: Tensor) -> Tensor:
    r"""Return the logits of dot-product attention, :math:`t_i \cdot s_j` for each edge from j to i and each head.

    A sampled dense-dense matrix product (SDDMM). target, source: [nodes, heads, width] -> [edges, heads]; no tensor of
    edges x width is materialised.
    """
    return sddmm(adjacency(graph), target, source)


def sddmm(matrix: SparseMatrix, left: Tensor, right: Tensor) -> Tensor:
    """Return the dot product of a row and a column of each CSR entry of a sparse matrix.

    left: [rows, heads, width], right: [columns, heads, width] -> [entries, heads].
    """
    if not uses_kernels(right):
        return sddmm_reference(matrix, left, right)
    return _call(left, right, *matrix.in_row_order().tensors)


def sddmm_reference(matrix: SparseMatrix, left: Tensor, right: Tensor) -> Tensor:
    """Portable path: gather both ends of each entry, multiply, and sum over the width."""
    return (gather_rows(matrix, left) * gather(matrix, right)).sum(dim=2)


def _endpoints(graph: GraphBatch) -> SparseMatrix:
    """Return the matrix [edges, 2 nodes] with a 1 at the source and a 1 at nodes + target of each edge."""

    def compute() -> SparseMatrix:
        source, target = graph.edge_index
        rowptr = torch.arange(0, 2 * graph.num_edges + 1, 2, device=source.device)
        col = torch.stack([source, target + graph.num_nodes], dim=1).flatten()
        colptr = torch.cat([graph.out_ptr, graph.in_ptr[1:] + graph.num_edges])
        row = torch.cat([graph.out_order, torch.arange(graph.num_edges, device=source.device)])
        return SparseMatrix(rowptr, col, None, colptr, row, None)  # all values are 1: no permutation is needed

    return graph.cached("endpoints", compute)


def _edge_dot(
    target: Tensor,
    source: Tensor,
    rowptr: Tensor,
    col: Tensor,
    perm: Tensor | None,
    colptr: Tensor,
    row: Tensor,
    csc_perm: Tensor | None,
) -> Tensor:
    from graphtrial.ops import kernels

    out = source.new_empty(col.shape[0], source.shape[1])
    work = len(col) * source.shape[1] * source.shape[2]
    run(kernels.sddmm, work, array(rowptr), array(col), array(target), array(source), out.numpy())
    return out


def _fake(target: Tensor, source: Tensor, rowptr: Tensor, col: Tensor, *rest: Tensor | None) -> Tensor:
    return source.new_empty(col.shape[0], source.shape[1])


def _setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _backward(ctx: Any, grad_output: Tensor) -> tuple[Any, ...]:
    target, source, *tensors = ctx.saved_tensors
    matrix = SparseMatrix(*tensors)
    grad_target = spmm(matrix, source, grad_output) if ctx.needs_input_grad[0] else None
    grad_source = spmm(matrix.transpose(), target, grad_output) if ctx.needs_input_grad[1] else None
    return grad_target, grad_source, *[None] * 6


_call = register_op(_edge_dot, _fake, _setup, _backward)
