"""Softmax over the in-edges of each node."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from graphtrial.core.hardware.threads import run
from graphtrial.graphs import GraphBatch
from graphtrial.ops.custom_op import array, register_op
from graphtrial.ops.portable import full_precision, gather_rows, segment_max, segment_sum, uses_kernels
from graphtrial.ops.recording import recordable
from graphtrial.ops.sparse_matrix import adjacency


@recordable
@full_precision
def edge_softmax(graph: GraphBatch, scores: Tensor) -> Tensor:
    """Return the softmax of `scores` [edges, heads] over the in-edges of each node, per head."""
    if not uses_kernels(scores):
        return edge_softmax_reference(graph, scores)
    return _call(scores, graph.in_ptr)


def edge_softmax_reference(graph: GraphBatch, scores: Tensor) -> Tensor:
    """Portable path: exponentials of the scores less the maximum of their node, divided by their sum."""
    matrix = adjacency(graph)
    target = graph.edge_index[1]
    weights = (scores - segment_max(matrix, scores).index_select(0, target)).exp()
    return weights / gather_rows(matrix, segment_sum(matrix, weights))


def _edge_softmax(scores: Tensor, ptr: Tensor) -> Tensor:
    from graphtrial.ops import kernels

    out = scores.new_empty(scores.shape)
    run(kernels.softmax, 4 * scores.numel(), array(ptr), array(scores), out.numpy())
    return out


def _fake(scores: Tensor, ptr: Tensor) -> Tensor:
    return scores.new_empty(scores.shape)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(output, inputs[1])


def _backward(ctx: Any, grad_output: Tensor) -> tuple[Any, ...]:
    probability, ptr = ctx.saved_tensors
    return _call_backward(grad_output, probability, ptr), None


def _edge_softmax_backward(grad_output: Tensor, probability: Tensor, ptr: Tensor) -> Tensor:
    from graphtrial.ops import kernels

    out = grad_output.new_empty(grad_output.shape)
    work = 4 * probability.numel()
    run(kernels.softmax_backward, work, array(ptr), array(grad_output), array(probability), out.numpy())
    return out


def _fake_backward(grad_output: Tensor, probability: Tensor, ptr: Tensor) -> Tensor:
    return grad_output.new_empty(grad_output.shape)


_call = register_op(_edge_softmax, _fake, _setup, _backward)
_call_backward = register_op(_edge_softmax_backward, _fake_backward)
