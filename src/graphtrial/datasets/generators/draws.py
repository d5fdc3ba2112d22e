"""Random numbers that are the same on every machine and with every version of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError

Array = npt.NDArray[Any]
HALF = np.uint64(32)


class Draws:
    """Random numbers made by whole-number arithmetic from the raw output of Philox (Salmon et al. 2011).

    NumPy keeps the raw output of its bit generators for ever, but not what its distributions make of it, so these few
    are our own. Streams of one seed are independent of each other: drawing more from one changes none of the others.
    """

    def __init__(self, seed: int, stream: int) -> None:
        if not 0 <= seed < 2**64:
            raise GraphTrialError(f"a seed is an integer from 0 to 2^64 - 1, not {seed}")
        self._bits = np.random.Philox(key=np.array([seed, stream], np.uint64))

    def raw(self, count: int) -> npt.NDArray[np.uint64]:
        """Return `count` integers of 64 random bits."""
        return self._bits.random_raw(count)

    def below(self, limits: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return for each limit, at most 2^32, a number from 0 to limit - 1 (uneven by less than limit / 2^32)."""
        bounds = np.asarray(limits, np.uint64)
        return (((self.raw(bounds.size).reshape(bounds.shape) >> HALF) * bounds) >> HALF).astype(np.int64)

    def uniform(self, count: int) -> npt.NDArray[np.float64]:
        """Return `count` multiples of 2^-53 from 0 to just below 1."""
        return (self.raw(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def permutation(self, count: int) -> npt.NDArray[np.int64]:
        """Return the numbers below `count` in random order."""
        return np.argsort(self.raw(count), kind="stable")

    def permutations(self, counts: Array) -> npt.NDArray[np.int64]:
        """Return the rows of groups of these sizes, group after group, in random order within each."""
        group = np.repeat(np.arange(len(counts)), counts)
        return np.lexsort((self.raw(len(group)), group))


def threshold(probability: float) -> int:
    """Return the integer below which so large a share of all numbers of 32 random bits lies."""
    if not 0 <= probability <= 1:
        raise GraphTrialError(f"a probability lies between 0 and 1; {probability!r} does not")
    return round(probability * 2**32)
