"""Multi-head attention of GAT over in-neighbours: logits, softmax and weighted sum in one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from graphtrial.graphs import GraphBatch
from graphtrial.ops.custom_op import array, empty, register_op
from graphtrial.ops.edge_softmax import edge_softmax, edge_softmax_reference
from graphtrial.ops.portable import full_precision, gather, gather_rows, uses_kernels
from graphtrial.ops.sparse_matrix import adjacency
from graphtrial.ops.spmm import spmm, spmm_reference

LANES = 8
"""Heads per call of the kernel: one SIMD lane each."""
MIN_HEADS = 3
"""With fewer heads most lanes would be idle, and separate softmax and SpMM kernels are faster."""


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
    if z.shape[1] < MIN_HEADS:
        sender, receiver = graph.edge_index
        scores = (z * source).sum(dim=2).index_select(0, sender) + (z * target).sum(dim=2).index_select(0, receiver)
        return spmm(matrix, z, edge_softmax(graph, F.leaky_relu(scores, slope)))
    if z.shape[1] <= LANES:
        return _call(z, source, target, slope, matrix.rowptr, matrix.col)[0]
    parts = zip(*(x.split(LANES, dim=-2) for x in (z, source, target)), strict=True)
    outs = [_call(z, source, target, slope, matrix.rowptr, matrix.col)[0] for z, source, target in parts]
    return torch.cat(outs, dim=1)


def attention_reference(graph: GraphBatch, z: Tensor, source: Tensor, target: Tensor, slope: float) -> Tensor:
    """Portable path: edge softmax of the logits, and a weighted sum."""
    matrix = adjacency(graph)
    scores = gather(matrix, (z * source).sum(dim=2)) + gather_rows(matrix, (z * target).sum(dim=2))
    return spmm_reference(matrix, z, edge_softmax_reference(graph, F.leaky_relu(scores, slope)))


def _attention(
    z: Tensor, source: Tensor, target: Tensor, slope: float, rowptr: Tensor, col: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    from graphtrial.ops import kernels

    out, _, scores, _ = _fake(z, source, target, slope, rowptr[:0], col[:0])
    lanes, alpha = empty(z, z.shape[0] * z.shape[2] * LANES), empty(z, col.shape[0] * LANES)
    at_source, at_target = scores.numpy()
    kernels.heads_to_lanes(array(z), array(source), array(target), lanes.numpy(), at_source, at_target)
    kernels.gat_attention(
        array(rowptr), array(col), lanes.numpy(), at_source, at_target, slope, alpha.numpy(), out.numpy()
    )
    return out, lanes, scores, alpha


def _fake(
    z: Tensor, source: Tensor, target: Tensor, slope: float, rowptr: Tensor, col: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    nodes, _, width = z.shape
    buffers = z.new_empty(z.shape), z.new_empty(nodes * width * LANES), z.new_empty(2, nodes * LANES)
    return *buffers, z.new_empty(col.shape[0] * LANES)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    _, source, target, slope, rowptr, col = inputs
    ctx.set_materialize_grads(False)
    ctx.mark_non_differentiable(*output[1:])
    ctx.slope = slope
    ctx.save_for_backward(*output[1:], source, target, rowptr, col)


def _backward(ctx: Any, grad_output: Tensor | None, *_: Any) -> tuple[Any, ...]:
    if grad_output is None:
        return None, None, None, None, None, None
    lanes, scores, alpha, source, target, rowptr, col = ctx.saved_tensors
    weights = torch.stack([source, target])
    grad_z, grad_weights = _call_backward(grad_output, lanes, scores, alpha, weights, ctx.slope, rowptr, col)
    return grad_z, *grad_weights.unbind(), None, None, None


def _attention_backward(
    grad_output: Tensor,
    lanes: Tensor,
    scores: Tensor,
    alpha: Tensor,
    weights: Tensor,
    slope: float,
    rowptr: Tensor,
    col: Tensor,
) -> tuple[Tensor, Tensor]:
    from graphtrial.ops import kernels

    out, grad_weights = _fake_backward(grad_output, lanes, scores, alpha, weights, slope, rowptr, col)
    pointers = array(rowptr)
    at_source, at_target = array(scores)
    kernels.gat_attention_backward(
        pointers,
        array(col),
        array(grad_output),
        array(lanes),
        at_source,
        at_target,
        slope,
        array(alpha),
        array(weights),
        int(np.diff(pointers).max(initial=0)),
        out.numpy(),
        grad_weights.numpy(),
    )
    return out, grad_weights


def _fake_backward(
    grad_output: Tensor,
    lanes: Tensor,
    scores: Tensor,
    alpha: Tensor,
    weights: Tensor,
    slope: float,
    rowptr: Tensor,
    col: Tensor,
) -> tuple[Tensor, Tensor]:
    return grad_output.new_empty(grad_output.shape), weights.new_empty(weights.shape)


_call = register_op(_attention, _fake, _setup, _backward)
_call_backward = register_op(_attention_backward, _fake_backward)
