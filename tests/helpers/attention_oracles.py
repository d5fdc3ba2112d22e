"""Attention of GT and SAN written down node by node, from the equations."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from graphtrial.graphs import GraphBatch

Scored = list[tuple[int, Tensor, float]]
"""The source of a pair, the products of each channel before the scaling, and the weight of the pair."""


def attend(pairs: Scored, value: Tensor, heads: int, eps: float) -> Tensor:
    """The weighted mean of the values of the sources, per head; 0 without any."""
    out = []
    for head in range(heads):
        size = value.shape[1] // heads
        part = slice(head * size, (head + 1) * size)
        top, bottom = torch.zeros(size, dtype=value.dtype), torch.tensor(eps, dtype=value.dtype)
        for source, products, factor in pairs:
            score = products[part].sum() / math.sqrt(size)
            weight = factor * math.e ** score.clamp(-5, 5)
            top, bottom = top + weight * value[source, part], bottom + weight
        out.append(top / bottom if pairs else top)
    return torch.cat(out)


def edges_into(batch: GraphBatch, node: int) -> list[tuple[int, int]]:
    """The number and the source of each edge into a node."""
    return [(at, u) for at, (u, v) in enumerate(batch.edge_index.T.tolist()) if v == node]


def others_of(batch: GraphBatch, node: int) -> list[int]:
    """All other nodes of the same graph."""
    return [u for u in range(batch.num_nodes) if u != node and batch.batch[u] == batch.batch[node]]
