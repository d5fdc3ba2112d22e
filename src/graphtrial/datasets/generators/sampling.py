"""Approximately normal variates and sampling without replacement, reproducible on every machine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.generators.draws import Draws

QUARTERS = tuple(np.uint64(16 * k) for k in range(4))
LAST = np.uint64(0xFFFF)


def approx_normal(draws: Draws, rows: int, columns: int) -> npt.NDArray[np.float32]:
    """Sample approximately standard normal values [rows, columns]: sums of four uniforms (Irwin-Hall)."""
    raw = draws.raw(rows * columns)
    total: npt.NDArray[Any] = sum((raw >> shift) & LAST for shift in QUARTERS)
    centred = (total.astype(np.int64) - 2 * 65_535).astype(np.float64)
    return (centred * (math.sqrt(3.0) / 65_536)).astype(np.float32).reshape(rows, columns)


def distinct(draws: Draws, limit: int, count: int) -> npt.NDArray[np.int64]:
    """Sample `count` distinct integers below `limit`, in random order."""
    if count > limit:
        raise GraphTrialError(f"cannot sample {count} distinct values out of {limit}")
    if 2 * count > limit:
        return draws.permutation(limit)[:count]
    sample = np.empty(0, np.int64)
    while len(sample) < count:
        more = np.floor(draws.uniform(count - len(sample) + 16) * limit).astype(np.int64)
        extended = np.concatenate([sample, more])
        sample = extended[np.sort(np.unique(extended, return_index=True)[1])]
    return sample[:count]
