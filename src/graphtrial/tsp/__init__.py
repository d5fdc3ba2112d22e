"""Exact solver of the symmetric travelling-salesman problem: branch and cut with a proof of optimality.

`solve(points)` returns a `Proof`: the shortest tour through points in the plane, a lower bound on every tour, and
whether they meet. Lin-Kernighan local search finds the tour; subtour and comb inequalities, separated over HiGHS's
linear relaxation, prove it. Bounds are recomputed in integers, so that no rounding can falsify them. `Limits` bounds
the effort; `METRICS` are the integer distance functions and `unit` the length of their unit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphtrial.tsp.distances import METRICS, unit
from graphtrial.tsp.result import Limits, Proof

if TYPE_CHECKING:
    from graphtrial.tsp.solver import solve

__all__ = ["METRICS", "Limits", "Proof", "solve", "unit"]


def __getattr__(name: str) -> Any:
    if name == "solve":  # the compiled search takes a moment to import, and most commands need no tour
        from graphtrial.tsp.solver import solve

        return solve
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
