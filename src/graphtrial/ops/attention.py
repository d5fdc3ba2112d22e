"""The attention of GAT: scores, softmax and weighted sum over the in-edges of each node."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from graphtrial.graphs import GraphBatch
from graphtrial.ops.csr import edges
from graphtrial.ops.operator import array, empty, operator
from graphtrial.ops.softmax import edge_softmax
from graphtrial.ops.spmm import weighted_sum

LANES = 8
"""Heads that are worked on together."""
LEAST = 3
"""Fewer heads than this would leave most lanes idle."""


def attention(graph: GraphBatch, z: Tensor, source: Tensor, target: Tensor, slope: float) -> Tensor:
    r"""Return what each node hears from its in-neighbours, head by head.

    .. math::
        out_i = \sum_{j \to i} \alpha_{ji} z_j, \qquad
        \alpha_{ji} = \mathrm{softmax}_{j \to i} \, \mathrm{LeakyReLU}_{slope}(source \cdot z_j + target \cdot z_i)

    z: [nodes, heads, width]; source, target: [heads, width] -> [nodes, heads, width]. Of the edges nothing is kept but
    their share in each head.
    """
    if z.device.type != "cpu":
        return attention_reference(graph, z, source, target, slope)
    matrix = edges(graph)
    if z.shape[1] < LEAST:
        sender, receiver = graph.edge_index
        scores = (z * source).sum(dim=2).index_select(0, sender) + (z * target).sum(dim=2).index_select(0, receiver)
        return weighted_sum(matrix, z, edge_softmax(graph, F.leaky_relu(scores, slope)))
    if z.shape[1] <= LANES:
        return _call(z, source, target, slope, matrix.ptr, matrix.index)[0]
    parts = zip(*(x.split(LANES, dim=-2) for x in (z, source, target)), strict=True)
    return torch.cat([_call(*part, slope, matrix.ptr, matrix.index)[0] for part in parts], dim=1)


def attention_reference(graph: GraphBatch, z: Tensor, source: Tensor, target: Tensor, slope: float) -> Tensor:
    """The same in plain torch, on any device."""
    sender, receiver = graph.edge_index
    scores = (z * source).sum(dim=2).index_select(0, sender) + (z * target).sum(dim=2).index_select(0, receiver)
    scores = F.leaky_relu(scores, slope)
    place = receiver.unsqueeze(1).expand_as(scores)
    zeros = scores.new_zeros(z.shape[0], z.shape[1])
    top = zeros.scatter_reduce(0, place, scores.detach(), "amax", include_self=False)
    share = (scores - top.gather(0, place)).exp()
    share = share / zeros.scatter_add(0, place, share).gather(0, place)
    return torch.zeros_like(z).index_add(0, receiver, share.unsqueeze(2) * z.index_select(0, sender))


def _attention(
    z: Tensor, source: Tensor, target: Tensor, slope: float, ptr: Tensor, index: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    from graphtrial.ops import kernels

    out, _, scores, _ = _fake(z, source, target, slope, ptr[:0], index[:0])
    lanes, share = empty(z, z.shape[0] * z.shape[2] * LANES), empty(z, index.shape[0] * LANES)
    kernels.heads_to_lanes(array(z), array(source), array(target), lanes.numpy(), *scores.numpy())
    kernels.attend(array(ptr), array(index), lanes.numpy(), *scores.numpy(), slope, share.numpy(), out.numpy())
    return out, lanes, scores, share


def _fake(
    z: Tensor, source: Tensor, target: Tensor, slope: float, ptr: Tensor, index: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    nodes, _, width = z.shape
    made = z.new_empty(z.shape), z.new_empty(nodes * width * LANES), z.new_empty(2, nodes * LANES)
    return *made, z.new_empty(index.shape[0] * LANES)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    _, source, target, slope, ptr, index = inputs
    ctx.set_materialize_grads(False)
    ctx.mark_non_differentiable(*output[1:])
    ctx.slope = slope
    ctx.save_for_backward(*output[1:], source, target, ptr, index)


def _backward(ctx: Any, gradient: Tensor | None, *_: Any) -> tuple[Any, ...]:
    if gradient is None:
        return None, None, None, None, None, None
    lanes, scores, share, source, target, ptr, index = ctx.saved_tensors
    weights = torch.stack([source, target])
    of_z, of_weights = _call_backward(gradient, lanes, scores, share, weights, ctx.slope, ptr, index)
    return of_z, *of_weights.unbind(), None, None, None


def _attention_backward(
    gradient: Tensor,
    lanes: Tensor,
    scores: Tensor,
    share: Tensor,
    weights: Tensor,
    slope: float,
    ptr: Tensor,
    index: Tensor,
) -> tuple[Tensor, Tensor]:
    from graphtrial.ops import kernels

    out, of_weights = _fake_backward(gradient, lanes, scores, share, weights, slope, ptr, index)
    pointers = array(ptr)
    kernels.attend_backward(
        pointers,
        array(index),
        array(gradient),
        array(lanes),
        *array(scores),
        slope,
        array(share),
        array(weights),
        int(np.diff(pointers).max(initial=0)),
        out.numpy(),
        of_weights.numpy(),
    )
    return out, of_weights


def _fake_backward(
    gradient: Tensor,
    lanes: Tensor,
    scores: Tensor,
    share: Tensor,
    weights: Tensor,
    slope: float,
    ptr: Tensor,
    index: Tensor,
) -> tuple[Tensor, Tensor]:
    return gradient.new_empty(gradient.shape), weights.new_empty(weights.shape)


_call = operator(_attention, _fake, _setup, _backward)
_call_backward = operator(_attention_backward, _fake_backward)
