"""Bell-shaped numbers and distinct choices, made of integers so that every machine makes the same."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.generators.draws import Draws

QUARTERS = tuple(np.uint64(16 * k) for k in range(4))
LAST = np.uint64(0xFFFF)


def bell(draws: Draws, rows: int, columns: int) -> npt.NDArray[np.float32]:
    """Return numbers of mean 0 and deviation 1 that are nearly normal: the sum of four uniform ones, at most 3.5."""
    raw = draws.raw(rows * columns)
    total: npt.NDArray[Any] = sum((raw >> shift) & LAST for shift in QUARTERS)
    centred = (total.astype(np.int64) - 2 * 65_535).astype(np.float64)
    return (centred * (math.sqrt(3.0) / 65_536)).astype(np.float32).reshape(rows, columns)


def distinct(draws: Draws, limit: int, count: int) -> npt.NDArray[np.int64]:
    """Return `count` different numbers below `limit` in random order."""
    if count > limit:
        raise GraphTrialError(f"{count} different things cannot be chosen out of {limit}")
    if 2 * count > limit:
        return draws.permutation(limit)[:count]
    found = np.empty(0, np.int64)
    while len(found) < count:
        more = np.floor(draws.uniform(count - len(found) + 16) * limit).astype(np.int64)
        together = np.concatenate([found, more])
        found = together[np.sort(np.unique(together, return_index=True)[1])]
    return found[:count]
