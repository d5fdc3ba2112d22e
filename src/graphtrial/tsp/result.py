"""Limits and result of the solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Limits:
    """Limits of branch and cut: number of subproblems (deterministic) and CPU seconds."""

    nodes: int = 2000
    seconds: float = float("inf")


@dataclass(frozen=True)
class Proof:
    """Best tour [n] and its length, lower bound, whether optimality is proved, subproblems and CPU seconds used."""

    tour: Array
    length: int
    bound: int
    proved: bool
    nodes: int
    seconds: float
