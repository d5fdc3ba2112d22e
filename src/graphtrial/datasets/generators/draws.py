"""Random number streams that are reproducible on every machine and with every version of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError

Array = npt.NDArray[Any]
HALF = np.uint64(32)


class Draws:
    """Random stream: integer arithmetic on the raw output of Philox (Salmon et al. 2011).

    NumPy guarantees the raw output of its bit generators, but not its distributions, hence our own. Streams of one seed
    are independent of each other.
    """

    def __init__(self, seed: int, stream: int) -> None:
        if not 0 <= seed < 2**64:
            raise GraphTrialError(f"a seed is an integer from 0 to 2^64 - 1, not {seed}")
        self._bits = np.random.Philox(key=np.array([seed, stream], np.uint64))

    def raw(self, count: int) -> npt.NDArray[np.uint64]:
        """Return `count` uniform 64-bit integers."""
        return self._bits.random_raw(count)

    def below(self, limits: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Sample a uniform integer below each limit, at most 2^32 (bias below limit / 2^32)."""
        bounds = np.asarray(limits, np.uint64)
        high = self.raw(bounds.size).reshape(bounds.shape) >> HALF
        integers: npt.NDArray[np.int64] = ((high * bounds) >> HALF).astype(np.int64)
        return integers

    def uniform(self, count: int) -> npt.NDArray[np.float64]:
        """Sample `count` uniform floats in [0, 1), multiples of 2^-53."""
        floats: npt.NDArray[np.float64] = (self.raw(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return floats

    def permutation(self, count: int) -> npt.NDArray[np.int64]:
        """Return a random permutation of `range(count)`."""
        return np.argsort(self.raw(count), kind="stable")

    def permutations(self, counts: Array) -> npt.NDArray[np.int64]:
        """Return row indices of consecutive groups of these sizes, permuted within each group."""
        group = np.repeat(np.arange(len(counts)), counts)
        return np.lexsort((self.raw(len(group)), group))


def threshold(probability: float) -> int:
    """Return t such that a uniform 32-bit integer is below t with this probability."""
    if not 0 <= probability <= 1:
        raise GraphTrialError(f"a probability lies between 0 and 1; {probability!r} does not")
    return round(probability * 2**32)
