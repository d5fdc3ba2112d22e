"""Weighted sum over neighbours and kernels: the aggregation of MoNet."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from graphtrial.core.hardware.threads import run
from graphtrial.graphs import GraphBatch
from graphtrial.ops.custom_op import array, empty, register_op
from graphtrial.ops.portable import full_precision, uses_kernels
from graphtrial.ops.recording import recordable
from graphtrial.ops.sparse_matrix import adjacency
from graphtrial.ops.spmm import spmm_reference
from graphtrial.ops.vector_paths import has_vectors


@recordable
@full_precision
def mixture_sum(graph: GraphBatch, z: Tensor, weight: Tensor) -> Tensor:
    r"""Return :math:`\sum_{j \to i} \sum_k weight_{ji}^k z_j^k`; 0 for a node without in-edges.

    z: [nodes, kernels, width], weight: [edges, kernels] -> [nodes, width]. The sums of single kernels, [nodes, kernels,
    width], are not materialised, nor is the gradient of each.
    """
    if not uses_kernels(z):
        return mixture_sum_reference(graph, z, weight)
    matrix = adjacency(graph)
    return _call(z, weight, matrix.rowptr, matrix.col, matrix.colptr, matrix.row, graph.out_order)


def mixture_sum_reference(graph: GraphBatch, z: Tensor, weight: Tensor) -> Tensor:
    """Portable path: a weighted sum over neighbours for each kernel, and their sum."""
    return spmm_reference(adjacency(graph), z, weight).sum(dim=1)


def _mixture_sum(
    z: Tensor, weight: Tensor, rowptr: Tensor, col: Tensor, colptr: Tensor, row: Tensor, csc_perm: Tensor
) -> Tensor:
    from graphtrial.ops import kernels

    out = empty(z, z.shape[0], z.shape[2])
    inputs = array(rowptr), array(col), array(weight), array(z)
    run(kernels.mixture_sum, _work(z, weight), has_vectors(), *inputs, out.numpy())
    return out


def _work(z: Tensor, weight: Tensor) -> int:
    return (weight.numel() + z.shape[0]) * z.shape[2]


def _fake(z: Tensor, *rest: Tensor) -> Tensor:
    return z.new_empty(z.shape[0], z.shape[2])


def _setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _backward(ctx: Any, grad_output: Tensor) -> tuple[Any, ...]:
    return *_call_backward(grad_output, *ctx.saved_tensors), *[None] * 5


def _mixture_sum_backward(
    grad_output: Tensor,
    z: Tensor,
    weight: Tensor,
    rowptr: Tensor,
    col: Tensor,
    colptr: Tensor,
    row: Tensor,
    csc_perm: Tensor,
) -> tuple[Tensor, Tensor]:
    from graphtrial.ops import kernels

    grad_z, grad_weight, work = empty(z, *z.shape), weight.new_empty(weight.shape), _work(z, weight)
    transpose, grad = (array(colptr), array(row), array(csc_perm)), array(grad_output)
    run(kernels.mixture_sum_input, work, has_vectors(), *transpose, array(weight), grad, grad_z.numpy())
    run(kernels.mixture_sum_weight, work, array(rowptr), array(col), grad, array(z), grad_weight.numpy())
    return grad_z, grad_weight


def _fake_backward(grad_output: Tensor, z: Tensor, weight: Tensor, *rest: Tensor) -> tuple[Tensor, Tensor]:
    return z.new_empty(z.shape), weight.new_empty(weight.shape)


_call = register_op(_mixture_sum, _fake, _setup, _backward)
_call_backward = register_op(_mixture_sum_backward, _fake_backward)
