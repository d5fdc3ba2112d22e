"""Sum of ReLU over in-neighbours: the aggregation of GINE and GCN+, without a tensor of messages."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphtrial.core.hardware.threads import run
from graphtrial.graphs import GraphBatch
from graphtrial.ops.aggregate import aggregate
from graphtrial.ops.custom_op import array, empty, register_op
from graphtrial.ops.portable import full_precision, gather, segment_sum, uses_kernels
from graphtrial.ops.recording import recordable
from graphtrial.ops.sparse_matrix import adjacency


@recordable
@full_precision
def relu_sum(graph: GraphBatch, x: Tensor, e: Tensor, scale: Tensor | None = None, *, add_self: bool = False) -> Tensor:
    r"""Return :math:`\sum_{j \to i} s_j \mathrm{ReLU}(x_j + e_{ji})`, plus :math:`x_i` with `add_self`.

    `scale` s: [nodes, 1], a constant, none for 1. x: [nodes, width], e: [edges, width], or one row for all edges, whose
    messages depend on their source alone -> [nodes, width].

    Forward and backward at width 80, 32 graphs, the kernels are 1.8 (molecules) and 7.8 times (PATTERN) as fast as
    messages that are gathered, stored and summed.
    """
    own = x.view_as(x) if add_self else None  # before the sum: autograd adds its gradient last, as the tape does
    if len(e) == 1 and graph.num_edges != 1:
        sent = (x + e).relu()
        out = aggregate(graph, sent if scale is None else sent * scale, "sum")
    elif uses_kernels(x):
        out = _call(x, e, scale, graph.in_ptr, graph.out_ptr, graph.out_order, *graph.edge_index)
    else:
        out = relu_sum_reference(graph, x, e, scale)
    return out if own is None else own + out


def relu_sum_reference(graph: GraphBatch, x: Tensor, e: Tensor, scale: Tensor | None = None) -> Tensor:
    """Portable path: the message of each edge, and their segment sums."""
    matrix = adjacency(graph)
    messages = (gather(matrix, x) + e).relu()
    return segment_sum(matrix, messages if scale is None else messages * scale.index_select(0, matrix.col))


def _relu_sum(
    x: Tensor,
    e: Tensor,
    scale: Tensor | None,
    in_ptr: Tensor,
    out_ptr: Tensor,
    out_order: Tensor,
    source: Tensor,
    target: Tensor,
) -> Tensor:
    from graphtrial.ops import kernels

    out, weight = empty(x, *x.shape), None if scale is None else array(scale).reshape(-1)
    inputs = array(in_ptr), array(source), array(x), array(e), weight
    run(kernels.relu_sum, 3 * e.numel(), *inputs, False, out.numpy())
    return out


def _fake(x: Tensor, *rest: Tensor | None) -> Tensor:
    return x.new_empty(x.shape)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _backward(ctx: Any, grad_output: Tensor) -> tuple[Any, ...]:
    return (*_call_backward(grad_output, *ctx.saved_tensors), *[None] * 6)


def _relu_sum_backward(
    grad_output: Tensor,
    x: Tensor,
    e: Tensor,
    scale: Tensor | None,
    in_ptr: Tensor,
    out_ptr: Tensor,
    out_order: Tensor,
    source: Tensor,
    target: Tensor,
) -> tuple[Tensor, Tensor]:
    from graphtrial.ops import kernels

    grad_x, grad_e = empty(x, *x.shape), empty(e, *e.shape)
    weight = None if scale is None else array(scale).reshape(-1)
    inputs = array(out_ptr), array(out_order), array(target), array(x), array(e), weight, array(grad_output)
    run(kernels.relu_sum_backward, 4 * e.numel(), *inputs, False, grad_x.numpy(), grad_e.numpy())
    return grad_x, grad_e


def _fake_backward(grad_output: Tensor, x: Tensor, e: Tensor, *rest: Tensor | None) -> tuple[Tensor, Tensor]:
    return torch.empty_like(x), torch.empty_like(e)


_call = register_op(_relu_sum, _fake, _setup, _backward)
_call_backward = register_op(_relu_sum_backward, _fake_backward)
