"""Softmax over the in-edges of each node."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphtrial.core.threads import run
from graphtrial.graphs import GraphBatch
from graphtrial.ops.custom_op import array, register_op


def edge_softmax(graph: GraphBatch, scores: Tensor) -> Tensor:
    """Return the softmax of `scores` [edges, heads] over the in-edges of each node, per head."""
    if scores.device.type != "cpu":
        return edge_softmax_reference(graph, scores)
    return _call(scores, graph.in_ptr)


def edge_softmax_reference(graph: GraphBatch, scores: Tensor) -> Tensor:
    """Reference implementation in plain torch, on any device."""
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
