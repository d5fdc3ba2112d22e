"""Pairs of the nodes of each graph without padding, graph after graph, for compiled kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from graphtrial.core.lazy import lazy_property
from graphtrial.graphs.batch import GraphBatch
from graphtrial.graphs.pairs.buckets import Bucket, Plan

Ids = npt.NDArray[np.int64]
GROUP_PAIRS = 16_384
"""Pairs that a group of graphs is filled up to: its states stay in the cache that the cores share."""


@dataclass(frozen=True)
class Ragged(Bucket):
    """Consecutive graphs of a batch, each with its own size.

    A state is a matrix [pairs, channels], whose row ptr[g] + i * n + j is the pair (i, j) of graph g of n nodes; `size`
    is the largest n.
    """

    @lazy_property
    def size_array(self) -> Ids:
        """The number of nodes of each graph."""
        return self.sizes.numpy()

    @lazy_property
    def ptr(self) -> Ids:
        """The first pair of each graph, and the number of all pairs, [graphs + 1]."""
        return np.concatenate([[0], np.cumsum(self.size_array**2)])

    @lazy_property
    def node_ptr(self) -> Ids:
        """The first node of each graph, and the number of all nodes, [graphs + 1]."""
        return np.concatenate([[0], np.cumsum(self.size_array)])

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return int(self.ptr[-1])

    def target(self, at: Tensor) -> Tensor:
        """Return the second node of each of the pairs `at`, counted over the nodes of these graphs."""
        graph = torch.from_numpy(np.searchsorted(self.ptr, at.numpy(), side="right") - 1)
        ptr, node_ptr = torch.from_numpy(self.ptr), torch.from_numpy(self.node_ptr)
        return node_ptr[graph] + (at - ptr[graph]) % self.sizes[graph]


def ragged_plan(graph: GraphBatch, least: int) -> Plan:
    """Return the graphs of a batch on the CPU in groups of about `GROUP_PAIRS` pairs, at least `least`, cached."""
    name = f"ragged {least}"

    def build() -> Plan:
        sizes = graph.host_ptr.diff()
        area = sizes.square()
        base = area.cumsum(0) - area
        cuts = _cuts(area.tolist(), least)
        buckets = tuple(Ragged(max(1, int(sizes[a:b].max())), sizes[a:b], int(base[a])) for a, b in pairwise(cuts))
        order = torch.arange(len(sizes))
        return Plan(name, buckets, order, torch.arange(int(sizes.sum())), base, sizes)

    plan: Plan = graph.cached(name, build)
    return plan


def _cuts(areas: Sequence[Any], least: int) -> list[int]:
    """Return the ends of groups, 0 included; a last group of fewer than `least` pairs joins the one before."""
    cuts, total = [0], 0
    for at, area in enumerate(areas):
        if total >= least and total + area > GROUP_PAIRS:
            cuts.append(at)
            total = 0
        total += area
    if total < least and len(cuts) > 1:
        cuts.pop()
    return [*cuts, len(areas)]
