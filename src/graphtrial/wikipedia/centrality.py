"""Harmonic centrality of categories, exact or estimated by HyperBall."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.progress import progress
from graphtrial.graphs.shortest_paths import BATCH, BreadthFirstSearch

EXACT_UP_TO = 100_000
LOG_REGISTERS = 8


def harmonic(start: Array, children: Array, method: str = "auto", log_registers: int = LOG_REGISTERS) -> Array:
    r"""Return the harmonic centrality of each category (Boldi and Vigna 2014), as float64.

    .. math:: s(c) = \sum_{x \ne c} 1 / d(x \to c)

    where d counts steps from a category to its parent, so that umbrella categories score highest. Category c has the
    children `children[start[c]:start[c + 1]]`. `exact` walks down from every category, 64 at a time; `hyperball`
    estimates the sizes of all balls at once (Boldi and Vigna 2013) with 2^log_registers bytes per category, to within
    about 1.04 / sqrt(2^log_registers); `auto` is exact up to 100,000 categories.
    """
    count = len(start) - 1
    if method not in ("auto", "exact", "hyperball"):
        raise GraphTrialError(f"centrality is auto, exact or hyperball, not '{method}'")
    if method == "exact" or (method == "auto" and count <= EXACT_UP_TO):
        return _exact(start, children)
    return hyperball(start, children, log_registers)


def _exact(start: Array, children: Array) -> npt.NDArray[np.float64]:
    count = len(start) - 1
    scores = np.zeros(count)
    search = BreadthFirstSearch(start, children)
    with progress("ranking categories", count) as advance:
        for base in range(0, count, BATCH):
            reached = search.counts_by_depth(base)
            depth = np.arange(1, len(reached) + 1)
            scores[base : base + BATCH] = (reached / depth[:, None]).sum(axis=0)[: count - base]
            advance(min(BATCH, count - base))
    return scores


def hyperball(start: Array, children: Array, log_registers: int) -> npt.NDArray[np.float64]:
    """Estimate harmonic centrality by HyperBall: per step the counter of a category merges those of its children."""
    if not 4 <= log_registers <= 14:
        raise GraphTrialError(f"counters have 2^4 to 2^14 registers, not 2^{log_registers}")
    count = len(start) - 1
    registers = np.zeros((count, 1 << log_registers), np.uint8)
    _initialise(registers, log_registers)
    other = registers.copy()
    sizes = np.ones(count)
    scores = np.zeros(count)
    changed = np.ones(count, np.bool_)
    depth = 0
    with progress("ranking categories", None) as advance:
        while changed.any():
            depth += 1
            changed = _merge_children(start, children, registers, other, changed, sizes, scores, depth)
            registers, other = other, registers
            advance(1)
    return scores


@compiled
def _initialise(registers: Array, log_registers: int) -> None:
    """Initialise each HyperLogLog counter with its own category, hashed by SplitMix64."""
    for node in range(len(registers)):
        word = np.uint64(node + 1) * np.uint64(0x9E3779B97F4A7C15)
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        word = word ^ (word >> np.uint64(31))
        register = np.int64(word >> np.uint64(64 - log_registers))
        word = word << np.uint64(log_registers)
        rank = 1
        while rank <= 64 - log_registers and not word >> np.uint64(63):
            word = word << np.uint64(1)
            rank += 1
        registers[node, register] = rank


@compiled
def _merge_children(
    start: Array,
    children: Array,
    old: Array,
    new: Array,
    changed: Array,
    sizes: Array,
    scores: Array,
    depth: int,
) -> Any:
    """Merge the counters of the children (radius + 1); return the mask of counters that changed."""
    count, width = old.shape
    updated = np.zeros(count, np.bool_)
    for node in range(count):
        new[node] = old[node]
        for at in range(start[node], start[node + 1]):
            child = children[at]
            if changed[child]:
                for register in range(width):
                    if old[child, register] > new[node, register]:
                        new[node, register] = old[child, register]
                        updated[node] = True
        if updated[node]:
            size = _cardinality(new[node])
            scores[node] += max(0.0, size - sizes[node]) / depth
            sizes[node] = max(size, sizes[node])
    return updated


@compiled
def _cardinality(registers: Array) -> float:
    """Cardinality estimate of a HyperLogLog counter (Flajolet et al. 2007)."""
    width = len(registers)
    total, empty = 0.0, 0
    for register in range(width):
        total += 2.0 ** -float(registers[register])
        empty += registers[register] == 0
    estimate = 0.7213 / (1.0 + 1.079 / width) * width * width / total
    if estimate <= 2.5 * width and empty:
        linear_count: float = width * np.log(width / empty)
        return linear_count
    return estimate
