"""Softmax over the in-edges of each node."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.ops.operator import array, operator


def edge_softmax(graph: GraphBatch, scores: Tensor) -> Tensor:
    """Return the softmax of scores [edges, heads] over the in-edges of each node, head by head."""
    if scores.device.type != "cpu":
        return edge_softmax_reference(graph, scores)
    return _call(scores, graph.in_ptr)


def edge_softmax_reference(graph: GraphBatch, scores: Tensor) -> Tensor:
    """The same in plain torch, on any device."""
    target = graph.edge_index[1].unsqueeze(1).expand_as(scores)
    top = scores.new_zeros(graph.num_nodes, scores.shape[1]).scatter_reduce(
        0, target, scores, "amax", include_self=False
    )
    weights = (scores - top.detach().gather(0, target)).exp()
    total = torch.zeros_like(top).scatter_add(0, target, weights)
    return weights / total.gather(0, target)


def _edge_softmax(scores: Tensor, ptr: Tensor) -> Tensor:
    from graphtrial.ops import kernels

    out = scores.new_empty(scores.shape)
    kernels.softmax(array(ptr), array(scores), out.numpy())
    return out


def _fake(scores: Tensor, ptr: Tensor) -> Tensor:
    return scores.new_empty(scores.shape)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(output, inputs[1])


def _backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    probability, ptr = ctx.saved_tensors
    return _call_backward(gradient, probability, ptr), None


def _edge_softmax_backward(gradient: Tensor, probability: Tensor, ptr: Tensor) -> Tensor:
    from graphtrial.ops import kernels

    out = gradient.new_empty(gradient.shape)
    kernels.softmax_backward(array(ptr), array(gradient), array(probability), out.numpy())
    return out


def _fake_backward(gradient: Tensor, probability: Tensor, ptr: Tensor) -> Tensor:
    return gradient.new_empty(gradient.shape)


_call = operator(_edge_softmax, _fake, _setup, _backward)
_call_backward = operator(_edge_softmax_backward, _fake_backward)
