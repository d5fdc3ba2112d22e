"""The gated mean of GatedGCN: gates, numerator and denominator, keeping no tensor of edges x width but the logits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.ops.csr import edges
from graphtrial.ops.linear import add_turned_product, multiply_into
from graphtrial.ops.operator import array, empty, operator

EPSILON = 1e-6
CHUNK = 2048
"""Entries that are worked on together, so that what lies between two steps stays in the cache."""


def gated_mean(
    graph: GraphBatch,
    source: Tensor,
    target: Tensor,
    edge: Tensor | None,
    value: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    r"""Return the gated mean of the neighbours' values, and the logits of the gates.

    .. math::
        l_{ji} = source_j + target_i + (weight) \, edge_{ji} + bias, \qquad
        out_i = \frac{\sum_{j \to i} \sigma(l_{ji}) \odot value_j}{\sum_{j \to i} \sigma(l_{ji}) + 10^{-6}}

    source, target, value: [nodes, width]; edge: [edges, width], or [1, width] where all edges have the same vector, or
    None; weight: [width, width] -> [nodes, width], [edges, width].
    """
    if value.device.type != "cpu":
        return gated_mean_reference(graph, source, target, edge, value, weight, bias)
    matrix = edges(graph)
    mean, logits, _ = _call(source, target, edge, value, weight, bias, matrix.ptr, matrix.index)
    return mean, logits


def gated_mean_reference(
    graph: GraphBatch,
    source: Tensor,
    target: Tensor,
    edge: Tensor | None,
    value: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The same in plain torch, on any device."""
    sender, receiver = graph.edge_index
    logits = source.index_select(0, sender) + target.index_select(0, receiver)
    if edge is not None:
        logits = logits + (edge if weight is None else edge @ weight.t())
    if bias is not None:
        logits = logits + bias
    gates = torch.sigmoid(logits)
    zeros = torch.zeros_like(value)
    top = zeros.index_add(0, receiver, gates * value.index_select(0, sender))
    return top / (zeros.index_add(0, receiver, gates) + EPSILON), logits


def _gated_mean(
    source: Tensor,
    target: Tensor,
    edge: Tensor | None,
    value: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    ptr: Tensor,
    index: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    from graphtrial.ops import kernels

    if edge is not None and _is_shared(edge, index):
        target, edge = target + (edge if weight is None else edge @ weight.t()), None
    if bias is not None:
        target = target + bias
    mean, inverse = value.new_empty(value.shape), value.new_empty(value.shape)
    logits = empty(value, len(index), value.shape[1])
    sources, targets, values = array(source), array(target), array(value)
    means, inverses, all_logits = mean.numpy(), inverse.numpy(), logits.numpy()
    pointers, columns = array(ptr), array(index)
    gate = np.empty((_longest(pointers), value.shape[1]), values.dtype)
    for first, last, begin, end in _chunks(pointers):
        if edge is not None and weight is not None:
            multiply_into(edge[begin:end], weight, logits[begin:end], turned=True)
        elif edge is not None:
            logits[begin:end] = edge[begin:end]
        kernels.gated_rows(
            pointers[first : last + 1],
            columns[begin:end],
            sources,
            targets[first:last],
            values,
            edge is not None,
            EPSILON,
            all_logits[begin:end],
            gate[: end - begin],
            means[first:last],
            inverses[first:last],
        )
    return mean, logits, inverse


def _fake(
    source: Tensor,
    target: Tensor,
    edge: Tensor | None,
    value: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    ptr: Tensor,
    index: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    return value.new_empty(value.shape), value.new_empty(index.shape[0], value.shape[1]), value.new_empty(value.shape)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    _, _, edge, value, weight, bias, ptr, index = inputs
    mean, logits, inverse = output
    ctx.mark_non_differentiable(inverse)
    ctx.set_materialize_grads(False)  # the logits of a last layer have no gradient
    ctx.has_edge, ctx.has_weight, ctx.has_bias = edge is not None, weight is not None, bias is not None
    ctx.save_for_backward(logits, edge, value, weight, mean, inverse, ptr, index)


def _backward(ctx: Any, gradient: Tensor | None, logit_gradient: Tensor | None, _: Any) -> tuple[Any, ...]:
    logits, edge, value, weight, mean, inverse, ptr, index = ctx.saved_tensors
    if gradient is None:
        gradient = torch.zeros_like(mean)
    of_source, of_target, of_edge, of_value, of_weight = _call_backward(
        gradient, logit_gradient, logits, edge, value, weight, mean, inverse, ptr, index
    )
    return (
        of_source,
        of_target,
        of_edge if ctx.has_edge else None,
        of_value,
        of_weight if ctx.has_weight else None,
        of_target.sum(dim=0) if ctx.has_bias else None,
        None,
        None,
    )


def _gated_mean_backward(
    gradient: Tensor,
    logit_gradient: Tensor | None,
    logits: Tensor,
    edge: Tensor | None,
    value: Tensor,
    weight: Tensor | None,
    mean: Tensor,
    inverse: Tensor,
    ptr: Tensor,
    index: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    from graphtrial.ops import kernels

    of_source, of_value = torch.zeros_like(value), torch.zeros_like(value)
    of_target = value.new_empty(value.shape)
    of_edge = value.new_empty(0) if edge is None else empty(edge, *edge.shape)
    of_weight = value.new_empty(0) if weight is None else torch.zeros_like(weight)
    pointers, columns, values, all_logits = array(ptr), array(index), array(value), array(logits)
    means, inverses, gradients = array(mean), array(inverse), array(gradient)
    extra = None if logit_gradient is None else array(logit_gradient)
    of_sources, of_targets, of_values = of_source.numpy(), of_target.numpy(), of_value.numpy()
    each = edge is not None and not _is_shared(edge, index)
    gate = np.empty((_longest(pointers), value.shape[1]), values.dtype)
    share = np.empty(value.shape[1], values.dtype)
    room = torch.from_numpy(np.empty_like(gate))
    for first, last, begin, end in _chunks(pointers):
        of_logits = of_edge[begin:end] if each and weight is None else room[: end - begin]
        kernels.gated_rows_backward(
            pointers[first : last + 1],
            columns[begin:end],
            all_logits[begin:end],
            values,
            means[first:last],
            inverses[first:last],
            gradients[first:last],
            None if extra is None else extra[begin:end],
            gate[: end - begin],
            share,
            of_logits.numpy(),
            of_targets[first:last],
            of_sources,
            of_values,
        )
        if each and edge is not None and weight is not None:
            multiply_into(of_logits, weight, of_edge[begin:end], turned=False)
            add_turned_product(of_logits, edge[begin:end], of_weight)
    if edge is not None and not each:
        of_edge = of_target.sum(dim=0, keepdim=True)
        if weight is not None:
            of_weight, of_edge = torch.outer(of_edge[0], edge[0]), of_edge @ weight
    return of_source, of_target, of_edge, of_value, of_weight


def _fake_backward(
    gradient: Tensor,
    logit_gradient: Tensor | None,
    logits: Tensor,
    edge: Tensor | None,
    value: Tensor,
    weight: Tensor | None,
    mean: Tensor,
    inverse: Tensor,
    ptr: Tensor,
    index: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    of_nodes, nothing = value.new_empty(value.shape), value.new_empty(0)
    of_edge = nothing if edge is None else edge.new_empty(edge.shape)
    of_weight = torch.empty_like(nothing) if weight is None else weight.new_empty(weight.shape)
    return of_nodes, torch.empty_like(of_nodes), of_edge, torch.empty_like(of_nodes), of_weight


def _is_shared(edge: Tensor, index: Tensor) -> bool:
    return edge.shape[0] == 1 and index.shape[0] != 1


def _longest(ptr: Any) -> int:
    """Return the most entries that one of the chunks can have."""
    return max(CHUNK, int(np.diff(ptr).max(initial=0)))


def _chunks(ptr: Any) -> Iterator[tuple[int, int, int, int]]:
    """Cut the rows into runs of at most `CHUNK` entries, or one row: first row, end, first entry, end."""
    first, rows = 0, len(ptr) - 1
    while first < rows:
        last = max(first + 1, int(np.searchsorted(ptr, ptr[first] + CHUNK, side="right")) - 1)
        yield first, last, int(ptr[first]), int(ptr[last])
        first = last


_call = operator(_gated_mean, _fake, _setup, _backward)
_call_backward = operator(_gated_mean_backward, _fake_backward)
