"""Products of the vectors at both ends of each edge."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.ops.csr import CSR, edges
from graphtrial.ops.operator import array, operator
from graphtrial.ops.spmm import weighted_sum


def edge_dot(graph: GraphBatch, target: Tensor, source: Tensor) -> Tensor:
    r"""Return :math:`t_i \cdot s_j` of each edge from j to i, head by head: the scores of dot-product attention.

    target, source: [nodes, heads, width] -> [edges, heads]. No tensor of edges x width is made.
    """
    if source.device.type != "cpu":
        return edge_dot_reference(graph, target, source)
    return _call(target, source, *edges(graph).tensors)


def edge_dot_reference(graph: GraphBatch, target: Tensor, source: Tensor) -> Tensor:
    """The same in plain torch, on any device."""
    sender, receiver = graph.edge_index
    return (target.index_select(0, receiver) * source.index_select(0, sender)).sum(dim=2)


def _edge_dot(
    target: Tensor,
    source: Tensor,
    ptr: Tensor,
    index: Tensor,
    order: Tensor | None,
    t_ptr: Tensor,
    t_index: Tensor,
    t_order: Tensor | None,
) -> Tensor:
    from graphtrial.ops import kernels

    out = source.new_empty(index.shape[0], source.shape[1])
    kernels.entry_dot(array(ptr), array(index), array(target), array(source), out.numpy())
    return out


def _fake(target: Tensor, source: Tensor, ptr: Tensor, index: Tensor, *rest: Tensor | None) -> Tensor:
    return source.new_empty(index.shape[0], source.shape[1])


def _setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    target, source, *matrix = ctx.saved_tensors
    there, back = CSR(*matrix), CSR(*matrix[3:], *matrix[:3])
    of_target = weighted_sum(there, source, gradient) if ctx.needs_input_grad[0] else None
    of_source = weighted_sum(back, target, gradient) if ctx.needs_input_grad[1] else None
    return of_target, of_source, *[None] * 6


_call = operator(_edge_dot, _fake, _setup, _backward)
