"""Permutation tests of two models whose trials are grouped by split."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Stratum = tuple[Array, Array]
"""The scores of both models on one split, one for each seed."""
RESAMPLES = 9_999


def permutation_p(strata: Sequence[Stratum]) -> float:
    """Return the two-sided p of the mean difference when models are exchanged among the trials of each split.

    With one trial of each on every split that is the test of pairs; on a single split that of two independent samples.
    All arrangements are counted where they are at most 9,999, else as many are drawn with a fixed seed.
    """
    observed = math.fsum(a.mean() - b.mean() for a, b in strata)
    scale = max(float(np.abs(np.concatenate(pair)).max()) for pair in strata)
    limit = abs(observed) - 1e-9 * max(scale, abs(observed))  # equal sums in another order count as equal
    if arrangements(strata) <= RESAMPLES:
        sums = np.zeros(1)
        for a, b in strata:
            sums = np.add.outer(sums, _every(a, b)).ravel()
        return float(np.mean(np.abs(sums) >= limit))
    rng = np.random.Generator(np.random.PCG64(0))
    sums = np.zeros(RESAMPLES)
    for a, b in strata:
        sums += _drawn(a, b, rng)
    return float((1 + np.count_nonzero(np.abs(sums) >= limit)) / (1 + RESAMPLES))


def arrangements(strata: Sequence[Stratum]) -> int:
    """Return in how many ways the two models can be exchanged among the trials of each split."""
    return math.prod(math.comb(len(a) + len(b), len(a)) for a, b in strata)


def least_p(strata: Sequence[Stratum]) -> float:
    """Return the smallest two-sided p of any scores; with equal numbers of trials each arrangement has a mirror."""
    mirrored = all(len(a) == len(b) for a, b in strata)
    return max((2 if mirrored else 1) / arrangements(strata), 1 / (1 + RESAMPLES))


def _every(a: Array, b: Array) -> Array:
    """Return the difference of the means for every choice of the trials that count as A's."""
    both = np.concatenate([a, b])
    chosen = np.array([both[list(places)].sum() for places in combinations(range(len(both)), len(a))])
    return chosen / len(a) - (both.sum() - chosen) / len(b)


def _drawn(a: Array, b: Array, rng: np.random.Generator) -> Array:
    """Return the difference of the means for random choices."""
    both = np.concatenate([a, b])
    chosen = rng.permuted(np.broadcast_to(both, (RESAMPLES, len(both))), axis=1)[:, : len(a)].sum(axis=1)
    return np.asarray(chosen / len(a) - (both.sum() - chosen) / len(b))
