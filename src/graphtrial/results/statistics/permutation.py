"""Stratified permutation test: two models, trials permuted within splits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Stratum = tuple[Array, Array]
"""Scores of both models on one split, one per seed."""
RESAMPLES = 9_999


def permutation_p(strata: Sequence[Stratum]) -> float:
    """Return the two-sided p-value of the permutation test of the mean difference, permuting labels within splits.

    With one trial per model and split this is the paired (sign-flip) test, on a single split the two-sample test. Exact
    for up to 9,999 permutations, else Monte Carlo with 9,999 permutations and a fixed seed.
    """
    observed = math.fsum(a.mean() - b.mean() for a, b in strata)
    scale = max(float(np.abs(np.concatenate(pair)).max()) for pair in strata)
    limit = abs(observed) - 1e-9 * max(scale, abs(observed))  # ties up to rounding
    if permutations(strata) <= RESAMPLES:
        sums = np.zeros(1)
        for a, b in strata:
            sums = np.add.outer(sums, _all_permutations(a, b)).ravel()
        return float(np.mean(np.abs(sums) >= limit))
    rng = np.random.Generator(np.random.PCG64(0))
    sums = np.zeros(RESAMPLES)
    for a, b in strata:
        sums += _random_permutations(a, b, rng)
    return float((1 + np.count_nonzero(np.abs(sums) >= limit)) / (1 + RESAMPLES))


def permutations(strata: Sequence[Stratum]) -> int:
    """Return the number of permutations of model labels within splits."""
    return math.prod(math.comb(len(a) + len(b), len(a)) for a, b in strata)


def smallest_p(strata: Sequence[Stratum]) -> float:
    """Return the smallest two-sided p-value attainable; with equal sample sizes permutations come in mirrored pairs."""
    mirrored = all(len(a) == len(b) for a, b in strata)
    return max((2 if mirrored else 1) / permutations(strata), 1 / (1 + RESAMPLES))


def _all_permutations(a: Array, b: Array) -> Array:
    """Return the mean difference under every permutation."""
    both = np.concatenate([a, b])
    chosen = np.array([both[list(places)].sum() for places in combinations(range(len(both)), len(a))])
    differences: npt.NDArray[np.float64] = chosen / len(a) - (both.sum() - chosen) / len(b)
    return differences


def _random_permutations(a: Array, b: Array, rng: np.random.Generator) -> Array:
    """Return the mean difference under random permutations."""
    both = np.concatenate([a, b])
    chosen = rng.permuted(np.broadcast_to(both, (RESAMPLES, len(both))), axis=1)[:, : len(a)].sum(axis=1)
    return np.asarray(chosen / len(a) - (both.sum() - chosen) / len(b))
