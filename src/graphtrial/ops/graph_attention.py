"""Multi-head attention among all nodes of each graph: block-diagonal, in buckets of similar size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs.buckets import host_plan
from graphtrial.graphs.transfer import to_device
from graphtrial.ops.dropout import dropout_mask

MAX_PAIRS = 1 << 15
"""Pairs of a bucket of several graphs, so that the scores of all heads stay in the processor's cache."""
PADDING_COST = 2048
"""Padded pairs that cost as much as one more bucket."""
MOST_SAVED = 1 << 21
"""Attention weights of a batch up to which they are saved for the backward pass, instead of computed again."""


@dataclass(frozen=True)
class Block:
    """Graphs of a bucket: the nodes of each padded row [graphs * size], and the mask of keys [graphs, size].

    `keys` is None without padding. `unpadded` [nodes] are the rows that are no padding; None if all are.
    """

    graphs: int
    size: int
    rows: Tensor
    keys: Tensor | None
    unpadded: Tensor | None

    def to(self, device: torch.device) -> Block:
        """Copy to a device."""
        keys, unpadded = (
            None if tensor is None else to_device(tensor, device) for tensor in (self.keys, self.unpadded)
        )
        return replace(self, rows=to_device(self.rows, device), keys=keys, unpadded=unpadded)


def graph_attention(
    graph: GraphBatch, q: Tensor, k: Tensor, v: Tensor, biases: Sequence[Tensor] | None = None, dropout: float = 0.0
) -> Tensor:
    r"""Scaled dot-product attention of each node over all nodes of its graph.

    .. math:: out_i = \sum_j \alpha_{ij} v_j, \qquad
        \alpha_{ij} = \mathrm{softmax}_j\big(q_i \cdot k_j / \sqrt{d} + b_{ij}\big)

    `biases` are those of all pairs, by head, as `pair_blocks` returns them. `dropout` is the probability of dropping an
    attention weight; 0 in evaluation. q, k, v: [nodes, heads, width] -> [nodes, heads, width].

    Graphs are taken together with others of similar size, so that hardly any padding is computed. On the CPU, beyond
    `MOST_SAVED` weights in a batch, those of a bucket are computed again in the backward pass, and nothing of the size
    of all pairs is saved.
    """
    if not graph.num_nodes:
        return v
    blocks, place = _blocks(graph)
    if q.device.type == "cpu":
        out: Tensor = _Attention.apply(q, k, v, dropout, blocks, *(biases or ()))  # type: ignore[no-untyped-call]
    else:
        out = _fused(q, k, v, dropout, blocks, biases)
    return out.index_select(0, place)


def pair_blocks(graph: GraphBatch, values: Tensor) -> list[Tensor]:
    """Return the biases of `graph_attention`, [graphs, heads, size, size] per bucket; padded keys get -inf.

    values [pairs, heads] are those of all ordered pairs (i, j) of the nodes of each graph, row by row: node i attends
    to node j, as in the edges of `complete_graph`.
    """
    if not graph.num_nodes:
        return []
    blocks, _ = _blocks(graph)
    index = graph.cached("pairs of blocks", lambda: _pair_index(graph, blocks))
    out = []
    for block, at in zip(blocks, index, strict=True):
        bias = values.index_select(0, at).view(block.graphs, block.size, block.size, -1).permute(0, 3, 1, 2)
        out.append(bias if block.keys is None else bias.masked_fill(~block.keys[:, None, None, :], -torch.inf))
    return out


def _blocks(graph: GraphBatch) -> tuple[list[Block], Tensor]:
    """Return the buckets with nodes, and the place of each node in the concatenation of their rows."""

    def compute() -> tuple[list[Block], Tensor]:
        plan = host_plan(graph, MAX_PAIRS, PADDING_COST)  # shapes follow from it
        order, blocks, first = torch.argsort(plan.node_place), [], 0
        for bucket in plan.buckets:
            nodes = int(bucket.sizes.sum())
            rows = order[first : first + nodes]
            first += nodes
            if not nodes:
                continue
            if bucket.present is None:
                blocks.append(Block(bucket.graphs, bucket.size, rows, None, None))
                continue
            unpadded = bucket.present.flatten().nonzero().flatten()
            padded = rows.new_zeros(bucket.graphs * bucket.size).index_copy(0, unpadded, rows)
            keys = bucket.present.clone()
            keys[:, 0] = True  # a softmax over nothing is NaN: an empty graph attends to padding, which is dropped
            blocks.append(Block(bucket.graphs, bucket.size, padded, keys, unpadded))
        moved = [block.to(graph.device) for block in blocks]
        return moved, to_device(plan.node_place, graph.device)

    return graph.cached("attention blocks", compute)


def _pair_index(graph: GraphBatch, blocks: list[Block]) -> list[Tensor]:
    """Return the row of each padded pair among all pairs, [graphs * size * size] per bucket; 0 for padding."""
    sizes = graph.ptr.diff()
    start = sizes.square().cumsum(0) - sizes.square()
    index = []
    for block in blocks:
        rows = block.rows.view(block.graphs, block.size)
        owner = graph.batch.index_select(0, rows[:, 0])
        if block.keys is not None:
            owner = torch.where(block.keys.sum(dim=1) > 0, owner, 0)
        local = torch.arange(block.size, device=rows.device)
        at = start[owner][:, None, None] + local[:, None] * sizes[owner][:, None, None] + local
        inside = local < sizes[owner][:, None]
        index.append(torch.where(inside[:, :, None] & inside[:, None, :], at, 0).flatten())
    return index


def _heads(x: Tensor, block: Block) -> Tensor:
    """Gather the rows of a bucket by head, [nodes, heads, width] -> [graphs, heads, size, width]."""
    return x.index_select(0, block.rows).view(block.graphs, block.size, *x.shape[1:]).transpose(1, 2)


def _nodes(x: Tensor, block: Block) -> Tensor:
    """Undo `_heads` without padding, [graphs, heads, size, width] -> [nodes, heads, width]."""
    rows = x.transpose(1, 2).reshape(-1, x.shape[1], x.shape[3])
    return rows if block.unpadded is None else rows.index_select(0, block.unpadded)


def _fused(
    q: Tensor, k: Tensor, v: Tensor, dropout: float, blocks: list[Block], biases: Sequence[Tensor] | None
) -> Tensor:
    """Attention by torch's fused operator, in the order of the buckets."""
    out = []
    for at, block in enumerate(blocks):
        mask = biases[at] if biases else None if block.keys is None else block.keys[:, None, None, :]
        queries, keys, values = (_heads(x, block) for x in (q, k, v))
        attended = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, dropout_p=dropout)
        out.append(_nodes(attended, block))
    return torch.cat(out)


class _Attention(torch.autograd.Function):
    """Attention in the order of the buckets; dropout masks, and many weights, are computed again in the backward."""

    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, dropout: float, blocks: list[Block], *biases: Tensor
    ) -> Tensor:
        ctx.dropout, ctx.blocks = dropout, blocks
        ctx.seed = int(torch.empty((), dtype=torch.int64).random_()) if dropout else 0
        generator = torch.Generator().manual_seed(ctx.seed)
        few = sum(block.graphs * block.size**2 for block in blocks) * q.shape[1] <= MOST_SAVED
        out, saved = [], []
        for at, block in enumerate(blocks):
            queries, keys, values = _rows_by_head(q, k, v, block)
            weights = _weights(queries, keys, block, biases[at] if biases else None)
            if few:
                saved.append(weights)
            if dropout:
                weights = dropout_mask(weights, dropout, generator).mul_(weights)
            attended = torch.bmm(weights, values)
            out.append(_nodes(attended.view(block.graphs, -1, *attended.shape[1:]), block))
        ctx.biases = len(biases)
        ctx.save_for_backward(q, k, v, *biases, *saved)
        return torch.cat(out)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Any, ...]:
        q, k, v, *rest = ctx.saved_tensors
        biases, saved = rest[: ctx.biases], rest[ctx.biases :]
        generator = torch.Generator().manual_seed(ctx.seed)
        grads = [torch.zeros_like(x) for x in (q, k, v)]
        grad_biases: list[Tensor | None] = []
        first = 0
        for at, block in enumerate(ctx.blocks):
            nodes = len(block.rows if block.unpadded is None else block.unpadded)
            grad = _padded(grad_output[first : first + nodes], block)
            first += nodes
            queries, keys, values = _rows_by_head(q, k, v, block)
            weights = saved[at] if saved else _weights(queries, keys, block, biases[at] if biases else None)
            grad_weights = torch.bmm(grad, values.transpose(1, 2))
            if ctx.dropout:
                mask = dropout_mask(weights, ctx.dropout, generator)
                grad_weights.mul_(mask)
                grad_values = torch.bmm(mask.mul_(weights).transpose(1, 2), grad)
            else:
                grad_values = torch.bmm(weights.transpose(1, 2), grad)
            grad_scores = torch._softmax_backward_data(grad_weights, weights, 2, weights.dtype)
            grad_queries = torch.bmm(grad_scores, keys).mul_(queries.shape[2] ** -0.5)
            grad_keys = torch.bmm(grad_scores.transpose(1, 2), queries)
            rows = block.rows if block.unpadded is None else block.rows.index_select(0, block.unpadded)
            for total, part in zip(grads, (grad_queries, grad_keys, grad_values), strict=True):
                total.index_copy_(0, rows, _nodes(part.view(block.graphs, -1, *part.shape[1:]), block))
            if biases:
                grad_biases.append(grad_scores.view(biases[at].shape) if ctx.needs_input_grad[5 + at] else None)
        return *grads, None, None, *grad_biases


def _rows_by_head(q: Tensor, k: Tensor, v: Tensor, block: Block) -> tuple[Tensor, Tensor, Tensor]:
    """Return scaled queries, keys and values of a bucket, [graphs * heads, size, width] each."""
    queries, keys, values = (_heads(x, block).flatten(0, 1) for x in (q, k, v))
    return queries * q.shape[2] ** -0.5, keys, values


def _weights(queries: Tensor, keys: Tensor, block: Block, bias: Tensor | None) -> Tensor:
    """Return the softmax of the scores, [graphs * heads, size, size]."""
    if bias is not None:
        scores = torch.baddbmm(bias.reshape(-1, *bias.shape[2:]), queries, keys.transpose(1, 2))
    else:
        scores = torch.bmm(queries, keys.transpose(1, 2))
        if block.keys is not None:
            scores = scores.view(block.graphs, -1, *scores.shape[1:])
            scores = scores.masked_fill_(~block.keys[:, None, None, :], -torch.inf).flatten(0, 1)
    return torch.softmax(scores, dim=2)


def _padded(rows: Tensor, block: Block) -> Tensor:
    """Pad gradients of nodes with 0, [nodes, heads, width] -> [graphs * heads, size, width]."""
    if block.unpadded is not None:
        rows = rows.new_zeros(block.graphs * block.size, *rows.shape[1:]).index_copy(0, block.unpadded, rows)
    return rows.view(block.graphs, block.size, *rows.shape[1:]).transpose(1, 2).flatten(0, 1)
