"""Scores of GAT: LeakyReLU of a sum over both endpoints of each edge."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.nn import functional as F

from graphtrial.core.hardware.threads import run
from graphtrial.graphs import GraphBatch
from graphtrial.ops.custom_op import array, register_op
from graphtrial.ops.linear import sum_of_blocks
from graphtrial.ops.portable import full_precision, gather, gather_rows, uses_kernels
from graphtrial.ops.recording import recordable
from graphtrial.ops.sparse_matrix import adjacency


@recordable
@full_precision
def attention_scores(graph: GraphBatch, z: Tensor, source: Tensor, target: Tensor, slope: float) -> Tensor:
    r"""Return :math:`\mathrm{LeakyReLU}_{slope}(source \cdot z_j + target \cdot z_i)` for each edge from j to i.

    z: [nodes, heads, width]; source, target: [heads, width] -> [edges, heads].
    """
    if not uses_kernels(z):
        return attention_scores_reference(graph, z, source, target, slope)
    return _call(z, source, target, slope, graph.in_ptr, graph.edge_index[0], graph.out_ptr, graph.out_order)[0]


def attention_scores_reference(graph: GraphBatch, z: Tensor, source: Tensor, target: Tensor, slope: float) -> Tensor:
    """Portable path: gather the scores of both endpoints of each edge."""
    matrix = adjacency(graph)
    scores = gather(matrix, (z * source).sum(dim=2)) + gather_rows(matrix, (z * target).sum(dim=2))
    return F.leaky_relu(scores, slope)


def _attention_scores(
    z: Tensor,
    source: Tensor,
    target: Tensor,
    slope: float,
    in_ptr: Tensor,
    sender: Tensor,
    out_ptr: Tensor,
    out_order: Tensor,
) -> tuple[Tensor, Tensor]:
    from graphtrial.ops import kernels

    nodes, heads, _ = z.shape
    at_node, out = z.new_empty(2, nodes, heads), z.new_empty(len(sender), heads)
    run(kernels.node_scores, 2 * z.numel(), array(z), array(source), array(target), at_node.numpy())
    inputs = array(in_ptr), array(sender), at_node.numpy(), slope
    run(kernels.edge_scores, 4 * out.numel(), *inputs, out.numpy())
    return out, at_node


def _fake(
    z: Tensor, source: Tensor, target: Tensor, slope: float, in_ptr: Tensor, sender: Tensor, *rest: Tensor
) -> tuple[Tensor, Tensor]:
    return z.new_empty(sender.shape[0], z.shape[1]), z.new_empty(2, z.shape[0], z.shape[1])


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    z, source, target, slope, in_ptr, _, out_ptr, out_order = inputs
    ctx.set_materialize_grads(False)
    ctx.mark_non_differentiable(output[1])
    ctx.slope = slope
    ctx.save_for_backward(output[0], z, source, target, in_ptr, out_ptr, out_order)


def _backward(ctx: Any, grad_output: Tensor | None, _: Any) -> tuple[Any, ...]:
    if grad_output is None:
        return (None,) * 8
    scores, *saved = ctx.saved_tensors
    return *_call_backward(grad_output, scores, ctx.slope, *saved), *[None] * 5


def _attention_scores_backward(
    grad_output: Tensor,
    scores: Tensor,
    slope: float,
    z: Tensor,
    source: Tensor,
    target: Tensor,
    in_ptr: Tensor,
    out_ptr: Tensor,
    out_order: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    from graphtrial.ops import kernels

    nodes, heads, width = z.shape
    grad_z, sums = z.new_empty(z.shape), z.new_empty(2, -(-nodes // kernels.SCORES_BLOCK), heads * width)
    pointers = array(in_ptr), array(out_ptr), array(out_order)
    inputs = array(grad_output), array(scores), slope, array(z), array(source), array(target)
    work = 4 * z.numel() + 4 * scores.numel()
    run(kernels.edge_score_gradients, work, *pointers, *inputs, grad_z.numpy(), sums.numpy())
    grad_source, grad_target = (sum_of_blocks(blocks).view(heads, width) for blocks in sums)
    return grad_z, grad_source, grad_target


def _fake_backward(
    grad_output: Tensor, scores: Tensor, slope: float, z: Tensor, source: Tensor, target: Tensor, *rest: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    return z.new_empty(z.shape), source.new_empty(source.shape), target.new_empty(target.shape)


_call = register_op(_attention_scores, _fake, _setup, _backward)
_call_backward = register_op(_attention_scores_backward, _fake_backward)
