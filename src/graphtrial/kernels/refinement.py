"""Exact colour refinement (1-WL) of all graphs of a set at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.compiler import compiled
from graphtrial.kernels.structure import Structure

Array = npt.NDArray[Any]


def initial_colours(structure: Structure) -> tuple[Array, int]:
    """Return the initial colours, one per node label in order of appearance, and their number."""
    return in_order_of_appearance(structure.node_label)


def refine(structure: Structure, colour: Array, colours: int) -> tuple[Array, int]:
    """Return the colours after one round of refinement, and their number.

    Two nodes get the same new colour if and only if they have the same old one and the same multiset of (edge label,
    colour) among their in-neighbours: a hash table with full comparison, so that collisions cannot merge colours.
    Colours are numbered in order of appearance: those of the first graphs do not depend on later graphs.
    """
    label = structure.edge_label
    kinds = 1 if label is None or not len(label) else int(label.max()) + 1
    seen = colour[structure.neighbour] * kinds
    if label is not None:
        seen += label
    new = np.empty_like(colour)
    return new, int(_refine(structure.ptr, seen, colour, new))


def in_order_of_appearance(values: Array) -> tuple[Array, int]:
    """Relabel values by their order of first appearance; return the labels and their number."""
    unique, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(unique), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(unique))
    return rank[inverse.reshape(-1)], len(unique)


@compiled
def _refine(ptr: Any, seen: Any, colour: Any, new: Any) -> int:
    nodes = len(colour)
    size = 16
    while size < 2 * nodes:
        size *= 2
    table = np.full(size, -1, np.int64)  # open addressing: the first node of each new colour
    colours = 0
    for node in range(nodes):
        begin, end = ptr[node], ptr[node + 1]
        seen[begin:end].sort()
        slot = np.uint64(colour[node]) * np.uint64(0x9E3779B97F4A7C15)
        for at in range(begin, end):
            slot = (slot ^ np.uint64(seen[at])) * np.uint64(0xBF58476D1CE4E5B9)
            slot ^= slot >> np.uint64(29)
        bucket = np.int64(slot & np.uint64(size - 1))
        while True:
            other = table[bucket]
            if other < 0:
                table[bucket] = node
                new[node] = colours
                colours += 1
                break
            if _same_neighbourhood(ptr, seen, colour, node, other):
                new[node] = new[other]
                break
            bucket = (bucket + 1) & (size - 1)
    return colours


@compiled
def _same_neighbourhood(ptr: Any, seen: Any, colour: Any, node: int, other: int) -> bool:
    degree = ptr[node + 1] - ptr[node]
    if colour[node] != colour[other] or degree != ptr[other + 1] - ptr[other]:
        return False
    for at in range(degree):  # noqa: SIM110 - Numba does not support generator expressions here
        if seen[ptr[node] + at] != seen[ptr[other] + at]:
            return False
    return True
