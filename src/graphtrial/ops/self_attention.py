"""Multi-head self-attention among all nodes of each graph, from packed queries, keys and values."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphtrial.core.hardware.threads import run
from graphtrial.graphs import GraphBatch
from graphtrial.ops.custom_op import array, empty, register_op
from graphtrial.ops.dropout import LEVELS, draw_seed, threshold
from graphtrial.ops.graph_attention import graph_attention
from graphtrial.ops.linear import PRODUCTS_PER_ELEMENT
from graphtrial.ops.portable import full_precision, uses_kernels
from graphtrial.ops.recording import recordable
from graphtrial.ops.vector_paths import has_vectors

KEEP_ALL = -1
"""Threshold of a mask that drops nothing."""


@recordable
@full_precision
def self_attention(graph: GraphBatch, qkv: Tensor, heads: int, dropout: float = 0.0) -> Tensor:
    """Scaled dot-product attention of each node over all nodes of its graph, `graph_attention` of packed inputs.

    The compiled kernel takes graph by graph, without padding to others, in blocks of queries, and saves two numbers per
    node and head; weights and dropout masks are computed again in the backward pass. qkv: [nodes, 3 * width], queries,
    keys and values, each with the channels of all heads -> [nodes, width].

    Forward and backward of 32 graphs, with dropout, it is 1.6 (molecules) and 1.7 times (PATTERN) as fast as torch's
    products by buckets with 4 heads of 16 channels, 2.1 and 2.7 times with 2 heads of 13.
    """
    if not (uses_kernels(qkv) and has_vectors()):
        return self_attention_reference(graph, qkv, heads, dropout)
    seed = draw_seed(dropout, None) if dropout else torch.zeros(1, dtype=torch.int64)
    return _call(qkv, seed, graph.ptr, heads, threshold(dropout) if dropout else KEEP_ALL)[0]


def self_attention_reference(graph: GraphBatch, qkv: Tensor, heads: int, dropout: float = 0.0) -> Tensor:
    """Portable path: buckets of graphs of similar size."""
    width = qkv.shape[1] // 3
    q, k, v = qkv.view(len(qkv), 3, heads, width // heads).unbind(dim=1)
    return graph_attention(graph, q, k, v, None, dropout).reshape(len(qkv), width)


def _self_attention(qkv: Tensor, seed: Tensor, ptr: Tensor, heads: int, threshold: int) -> tuple[Tensor, Tensor]:
    from graphtrial.ops import kernels

    out, norm = empty(qkv, len(qkv), qkv.shape[1] // 3), empty(qkv, len(qkv), 2 * heads)
    inputs = array(ptr), array(qkv), heads, array(seed), threshold, LEVELS / threshold
    run(kernels.graph_attention, _work(qkv, ptr), *inputs, out.numpy(), norm.numpy())
    return out, norm


def _work(qkv: Tensor, ptr: Tensor) -> int:
    return len(qkv) ** 2 // max(1, len(ptr) - 1) * qkv.shape[1] // PRODUCTS_PER_ELEMENT


def _fake(qkv: Tensor, seed: Tensor, ptr: Tensor, heads: int, threshold: int) -> tuple[Tensor, Tensor]:
    return qkv.new_empty(qkv.shape[0], qkv.shape[1] // 3), qkv.new_empty(qkv.shape[0], 2 * heads)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    qkv, seed, ptr, ctx.heads, ctx.threshold = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(qkv, seed, ptr, output[1])


def _backward(ctx: Any, grad_output: Tensor | None, _: Any) -> tuple[Any, ...]:
    if grad_output is None:
        return None, None, None, None, None
    qkv, seed, ptr, norm = ctx.saved_tensors
    return _call_backward(grad_output, qkv, seed, ptr, norm, ctx.heads, ctx.threshold), None, None, None, None


def _self_attention_backward(
    grad_output: Tensor, qkv: Tensor, seed: Tensor, ptr: Tensor, norm: Tensor, heads: int, threshold: int
) -> Tensor:
    from graphtrial.ops import kernels

    out = empty(qkv, *qkv.shape)
    inputs = array(ptr), array(qkv), heads, array(seed), threshold, LEVELS / threshold, array(norm)
    run(kernels.graph_attention_backward, 2 * _work(qkv, ptr), *inputs, array(grad_output), out.numpy())
    return out


def _fake_backward(
    grad_output: Tensor, qkv: Tensor, seed: Tensor, ptr: Tensor, norm: Tensor, heads: int, threshold: int
) -> Tensor:
    return torch.empty_like(qkv)


_call = register_op(_self_attention, _fake, _setup, _backward)
_call_backward = register_op(_self_attention_backward, _fake_backward)
