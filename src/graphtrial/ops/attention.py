"""Multi-head attention of GAT over in-neighbours: logits, softmax and weighted sum in one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from graphtrial.core.hardware.threads import run
from graphtrial.graphs import GraphBatch
from graphtrial.ops.attention_scores import attention_scores, attention_scores_reference
from graphtrial.ops.custom_op import array, empty, register_op
from graphtrial.ops.edge_softmax import edge_softmax, edge_softmax_reference
from graphtrial.ops.portable import full_precision, uses_kernels
from graphtrial.ops.recording import recordable
from graphtrial.ops.sparse_matrix import adjacency
from graphtrial.ops.spmm import spmm, spmm_reference
from graphtrial.ops.vector_paths import has_vectors

LANES = 8
"""Heads per call of the kernel: one SIMD lane each."""
MIN_HEADS = 3
"""With fewer heads most lanes would be idle, and separate softmax and SpMM kernels are faster."""


@recordable
@full_precision
def attention(graph: GraphBatch, z: Tensor, source: Tensor, target: Tensor, slope: float) -> Tensor:
    r"""Multi-head attention over in-neighbours, as in GAT.

    .. math::
        out_i = \sum_{j \to i} \alpha_{ji} z_j, \qquad
        \alpha_{ji} = \mathrm{softmax}_{j \to i} \, \mathrm{LeakyReLU}_{slope}(source \cdot z_j + target \cdot z_i)

    z: [nodes, heads, width]; source, target: [heads, width] -> [nodes, heads, width]. Only the attention weights
    :math:`\alpha` [edges, heads] are saved for the backward pass.
    """
    if not uses_kernels(z):
        return attention_reference(graph, z, source, target, slope)
    matrix = adjacency(graph)
    if z.shape[1] < MIN_HEADS or not has_vectors():
        return spmm(matrix, z, edge_softmax(graph, attention_scores(graph, z, source, target, slope)))
    pointers = matrix.rowptr, matrix.col, matrix.colptr, matrix.row, graph.out_order
    if z.shape[1] <= LANES:
        return _call(z, source, target, slope, *pointers)[0]
    parts = zip(*(x.split(LANES, dim=-2) for x in (z, source, target)), strict=True)
    outs = [_call(z, source, target, slope, *pointers)[0] for z, source, target in parts]
    return torch.cat(outs, dim=1)


def attention_reference(graph: GraphBatch, z: Tensor, source: Tensor, target: Tensor, slope: float) -> Tensor:
    """Portable path: edge softmax of the logits, and a weighted sum."""
    scores = attention_scores_reference(graph, z, source, target, slope)
    return spmm_reference(adjacency(graph), z, edge_softmax_reference(graph, scores))


def _attention(
    z: Tensor,
    source: Tensor,
    target: Tensor,
    slope: float,
    rowptr: Tensor,
    col: Tensor,
    colptr: Tensor,
    row: Tensor,
    csc_perm: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    from graphtrial.ops import kernels

    nodes, _, width = z.shape
    out, scores = z.new_empty(z.shape), z.new_empty(2, nodes * LANES)
    lanes, alpha = empty(z, nodes * width * LANES), empty(z, len(col) * LANES)
    at_source, at_target = scores.numpy()
    weights = array(source), array(target)
    run(kernels.heads_to_lanes, 4 * z.numel(), array(z), *weights, lanes.numpy(), at_source, at_target)
    matrix = array(rowptr), array(col)
    inputs = lanes.numpy(), at_source, at_target, slope
    run(kernels.gat_attention, _work(col, width), *matrix, *inputs, alpha.numpy(), out.numpy())
    return out, lanes, scores, alpha


def _work(col: Tensor, width: int) -> int:
    return len(col) * LANES * (width + 8)


def _fake(
    z: Tensor, source: Tensor, target: Tensor, slope: float, rowptr: Tensor, col: Tensor, *rest: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    nodes, _, width = z.shape
    buffers = z.new_empty(z.shape), z.new_empty(nodes * width * LANES), z.new_empty(2, nodes * LANES)
    return *buffers, z.new_empty(col.shape[0] * LANES)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    _, source, target, slope, *pointers = inputs
    ctx.set_materialize_grads(False)
    ctx.mark_non_differentiable(*output[1:])
    ctx.slope = slope
    ctx.save_for_backward(*output[1:], source, target, *pointers)


def _backward(ctx: Any, grad_output: Tensor | None, *_: Any) -> tuple[Any, ...]:
    if grad_output is None:
        return (None,) * 9
    lanes, scores, alpha, source, target, *pointers = ctx.saved_tensors
    weights = torch.stack([source, target])
    grad_z, grad_weights = _call_backward(grad_output, lanes, scores, alpha, weights, ctx.slope, *pointers)
    return grad_z, *grad_weights.unbind(), *[None] * 6


def _attention_backward(
    grad_output: Tensor,
    lanes: Tensor,
    scores: Tensor,
    alpha: Tensor,
    weights: Tensor,
    slope: float,
    rowptr: Tensor,
    col: Tensor,
    colptr: Tensor,
    row: Tensor,
    csc_perm: Tensor,
) -> tuple[Tensor, Tensor]:
    from graphtrial.ops import kernels

    nodes, _, width = grad_output.shape
    out, grad_weights = grad_output.new_empty(grad_output.shape), weights.new_empty(weights.shape)
    grad_lanes, grad_score = np.empty_like(array(lanes)), np.empty_like(array(alpha))
    at_source, at_target = array(scores)
    grad_target = np.empty_like(at_target)
    saved = array(lanes), at_source, at_target, slope, array(alpha)
    grads, work = (grad_lanes, grad_score, grad_target), _work(col, width)
    run(kernels.gat_score_gradients, work, array(rowptr), array(col), array(grad_output), *saved, *grads)
    transpose = array(colptr), array(row), array(csc_perm)
    sums = np.empty((-(-nodes // kernels.ATTENTION_BLOCK), 2 * width * LANES), grad_lanes.dtype)
    inputs = array(lanes), array(alpha), array(weights)
    run(kernels.gat_gradients, work, *transpose, *inputs, *grads, out.numpy(), sums)
    kernels.add_attention_blocks(sums, grad_weights.numpy())
    return out, grad_weights


def _fake_backward(
    grad_output: Tensor, lanes: Tensor, scores: Tensor, alpha: Tensor, weights: Tensor, slope: float, *rest: Tensor
) -> tuple[Tensor, Tensor]:
    return grad_output.new_empty(grad_output.shape), weights.new_empty(weights.shape)


_call = register_op(_attention, _fake, _setup, _backward)
_call_backward = register_op(_attention_backward, _fake_backward)
