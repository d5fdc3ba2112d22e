"""Reader of the published text format: one instance per line, "x y x y ... output tour"."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError

Array = npt.NDArray[Any]


def read_tours(path: Path, limit: int) -> Iterator[tuple[Array, Array]]:
    """Yield points [n, 2] and tour [n] of the first `limit` lines; ids are 1-based and the tour is closed."""
    with path.open(encoding="ascii", errors="replace") as stream:
        for number, line in zip(range(1, limit + 1), stream, strict=False):
            try:
                yield read_line(line)
            except (ValueError, OverflowError) as error:
                raise CorruptFileError(
                    f"{path.name} line {number} is not an instance with its tour: {error}"
                ) from error


def read_line(line: str) -> tuple[Array, Array]:
    """Parse points and tour of one line; raises `ValueError` for an invalid line."""
    left, separator, right = line.partition("output")
    if not separator:
        raise ValueError("it has no 'output'")
    values = np.array(left.split(), np.float64)
    tour = np.array(right.split(), np.int64) - 1
    if len(values) < 10 or len(values) % 2 or not np.isfinite(values).all():
        raise ValueError(f"{len(values)} coordinates are not those of five points or more")
    n = len(values) // 2
    if len(tour) != n + 1 or tour[0] != tour[-1] or not np.array_equal(np.sort(tour[:-1]), np.arange(n)):
        raise ValueError(f"the tour does not visit each of {n} points once and return")
    return values.reshape(n, 2), tour[:-1]
