"""What is asked of a proof, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Limits:
    """When to give up: after so many subproblems, the same on every machine, or so many seconds of computing."""

    nodes: int = 2000
    seconds: float = float("inf")


@dataclass(frozen=True)
class Proof:
    """The best tour, a lower bound on every tour, whether they meet, and what it took."""

    tour: Array
    length: int
    bound: int
    proved: bool
    nodes: int
    seconds: float
