"""The gated mean of GatedGCN: gates, numerator and denominator without intermediate tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.ops.csr import edges
from graphtrial.ops.operator import array, operator

EPSILON = 1e-6


def gated_mean(graph: GraphBatch, source: Tensor, target: Tensor, edge: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    r"""Return the gated mean of the neighbours' values, and the logits of the gates.

    .. math::
        l_{ji} = source_j + target_i + edge_{ji}, \qquad
        out_i = \frac{\sum_{j \to i} \sigma(l_{ji}) \odot value_j}{\sum_{j \to i} \sigma(l_{ji}) + 10^{-6}}

    source, target, value: [nodes, width]; edge: [edges, width] -> [nodes, width], [edges, width].
    """
    if value.device.type != "cpu":
        return gated_mean_reference(graph, source, target, edge, value)
    matrix = edges(graph)
    mean, logits, _, _ = _call(
        source, target, edge, value, matrix.ptr, matrix.index, matrix.t_ptr, matrix.t_index, matrix.t_order
    )
    return mean, logits


def gated_mean_reference(
    graph: GraphBatch, source: Tensor, target: Tensor, edge: Tensor, value: Tensor
) -> tuple[Tensor, Tensor]:
    """The same in plain torch, on any device."""
    sender, receiver = graph.edge_index
    logits = source.index_select(0, sender) + target.index_select(0, receiver) + edge
    gates = torch.sigmoid(logits)
    zeros = torch.zeros_like(value)
    top = zeros.index_add(0, receiver, gates * value.index_select(0, sender))
    return top / (zeros.index_add(0, receiver, gates) + EPSILON), logits


def _gated_mean(
    source: Tensor,
    target: Tensor,
    edge: Tensor,
    value: Tensor,
    ptr: Tensor,
    index: Tensor,
    t_ptr: Tensor,
    t_index: Tensor,
    t_order: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    from graphtrial.ops import kernels

    rows, columns = array(ptr), array(index)
    logits, mean, inverse = edge.new_empty(edge.shape), value.new_empty(value.shape), value.new_empty(value.shape)
    kernels.gate_logits(rows, columns, array(source), array(target), array(edge), logits.numpy())
    gate = torch.sigmoid(logits)  # torch's own is vectorised; numba's exponential is not
    kernels.gated_mean(rows, columns, gate.numpy(), array(value), EPSILON, mean.numpy(), inverse.numpy())
    return mean, logits, gate, inverse


def _fake(source: Tensor, target: Tensor, edge: Tensor, value: Tensor, *matrix: Tensor) -> tuple[Tensor, ...]:
    of_nodes, of_edges = value.new_empty(value.shape), edge.new_empty(edge.shape)
    return of_nodes, of_edges, torch.empty_like(of_edges), torch.empty_like(of_nodes)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    mean, _, gate, inverse = output
    ctx.mark_non_differentiable(gate, inverse)
    ctx.set_materialize_grads(False)  # the logits of a last layer have no gradient
    ctx.save_for_backward(gate, inputs[3], mean, inverse, *inputs[4:])


def _backward(ctx: Any, gradient: Tensor | None, logit_gradient: Tensor | None, *_: Any) -> tuple[Any, ...]:
    gate, value, mean, inverse, *matrix = ctx.saved_tensors
    if gradient is None:
        gradient = torch.zeros_like(mean)
    found = _call_backward(gradient, logit_gradient, gate, value, mean, inverse, *matrix)
    return (*found, None, None, None, None, None)


def _gated_mean_backward(
    gradient: Tensor,
    logit_gradient: Tensor | None,
    gate: Tensor,
    value: Tensor,
    mean: Tensor,
    inverse: Tensor,
    ptr: Tensor,
    index: Tensor,
    t_ptr: Tensor,
    t_index: Tensor,
    t_order: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    from graphtrial.ops import kernels

    gates, values = array(gate), array(value)
    extra = None if logit_gradient is None else array(logit_gradient)
    logits = gate.new_empty(gate.shape)
    share, of_target, of_source, of_value = (value.new_empty(value.shape) for _ in range(4))
    kernels.gated_mean_backward_rows(
        array(ptr),
        array(index),
        gates,
        values,
        array(mean),
        array(inverse),
        array(gradient),
        extra,
        logits.numpy(),
        share.numpy(),
        of_target.numpy(),
    )
    kernels.gated_mean_backward_columns(
        array(t_ptr),
        array(t_index),
        array(t_order),
        gates,
        share.numpy(),
        logits.numpy(),
        of_source.numpy(),
        of_value.numpy(),
    )
    return of_source, of_target, logits, of_value


def _fake_backward(
    gradient: Tensor, logit_gradient: Tensor | None, gate: Tensor, value: Tensor, *rest: Tensor
) -> tuple[Tensor, ...]:
    of_nodes = value.new_empty(value.shape)
    return of_nodes, torch.empty_like(of_nodes), gate.new_empty(gate.shape), torch.empty_like(of_nodes)


_call = operator(_gated_mean, _fake, _setup, _backward)
_call_backward = operator(_gated_mean_backward, _fake_backward)
