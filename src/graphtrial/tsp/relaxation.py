"""The linear relaxation of a tour, solved by HiGHS, and lower bounds from it that no rounding can falsify.

HiGHS computes in floating point, so its own bound may be off. But any multipliers of the degree equations and of the
cuts (none negative for these) give a true bound. Here they are rounded to whole multiples of 1 / GRAIN of a unit of
distance, and the bound is computed again from them in integers, over every pair of points that a better tour may
still have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import missing_extra
from graphtrial.tsp.cuts import Cut, coefficients, reduced_costs, stacked
from graphtrial.tsp.separation import Point

Array = npt.NDArray[Any]

GRAIN = 1024
"""The parts of a unit of distance that multipliers are rounded to."""
LARGEST = 2**60


@dataclass
class Start:
    """Where a simplex run can start from: the cuts, and which columns and rows are basic."""

    cuts: list[Cut] = field(default_factory=list)
    columns: dict[int, Any] = field(default_factory=dict)
    rows: list[Any] = field(default_factory=list)


class Relaxation:
    """Tours of a complete graph, relaxed: degree 2 everywhere and the cuts added so far.

    `pair_u`, `pair_v` are the pairs that a tour better than the best known may have, `must` says which it must have.
    Columns are some of the pairs, `u`, `v`.
    """

    def __init__(self, distance: Array, columns: Array) -> None:
        try:
            import highspy
        except ImportError as error:
            raise missing_extra("the proof that a tour is the shortest", "HiGHS", "tsp") from error
        self._highs = highspy
        self.distance, self.n = distance, len(distance)
        self.pair_u, self.pair_v = np.triu_indices(self.n, 1)
        self.must = np.zeros(len(self.pair_u), bool)
        self.u, self.v = np.nonzero(np.triu(columns, 1))
        self.cuts: list[Cut] = []
        self.idle = np.zeros(0, np.int64)
        self.x = self.dual = self.tried = np.zeros(0)
        self.scale = 32.0 / max(1.0, float(np.sort(distance, axis=1)[:, 2].mean()))
        self._solver: Any = highspy.Highs()
        options: dict[str, Any] = {
            "output_flag": False,
            "solver": "simplex",
            "presolve": "off",
            "threads": 1,
            "parallel": "off",
        }
        for name, value in options.items():
            self._solver.setOptionValue(name, value)
        self.restart(Start())

    def restart(self, start: Start) -> None:
        """Hand HiGHS the columns, none of them decided, and the rows of `start`."""
        highs, n = self._highs, self.n
        self.cuts = list(start.cuts)
        self.idle = np.zeros(len(self.cuts), np.int64)
        self.lower, self.upper = np.zeros(len(self.u)), np.ones(len(self.u))
        lp = highs.HighsLp()
        lp.num_col_, lp.num_row_ = len(self.u), n
        lp.col_cost_ = self.distance[self.u, self.v] * self.scale
        lp.col_lower_, lp.col_upper_ = self.lower, self.upper
        lp.row_lower_ = lp.row_upper_ = np.full(n, 2.0)
        lp.a_matrix_.format_ = highs.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.arange(0, 2 * len(self.u) + 1, 2)
        lp.a_matrix_.index_ = np.stack([self.u, self.v], axis=1).reshape(-1)
        lp.a_matrix_.value_ = np.ones(2 * len(self.u))
        self._solver.passModel(lp)
        self._add_rows(self.cuts)
        if start.rows:
            basis, at_zero = highs.HighsBasis(), highs.HighsBasisStatus.kLower
            basis.col_status = [start.columns.get(key, at_zero) for key in self._keys()]
            basis.row_status = start.rows
            basis.valid = True
            self._solver.setBasis(basis)

    def start(self) -> Start:
        """Return where the last run ended."""
        basis = self._solver.getBasis()
        return Start(list(self.cuts), dict(zip(self._keys(), basis.col_status, strict=True)), list(basis.row_status))

    def purge(self, patience: int) -> None:
        """Forget cuts that were slack for more than `patience` runs, and columns that no better tour can have."""
        start = self.start()
        basic = self._highs.HighsBasisStatus.kBasic
        keep = [row for row, age in enumerate(self.idle) if age <= patience or start.rows[self.n + row] != basic]
        alive = np.zeros((self.n, self.n), bool)
        alive[self.pair_u, self.pair_v] = True
        stay = alive[self.u, self.v] | np.array([start.columns[key] == basic for key in self._keys()], bool)
        self.u, self.v = self.u[stay], self.v[stay]
        idle = self.idle[keep]
        rows = [*start.rows[: self.n], *(start.rows[self.n + row] for row in keep)]
        self.restart(Start([self.cuts[row] for row in keep], start.columns, rows))
        self.idle = idle

    def add_cuts(self, cuts: Sequence[Cut]) -> int:
        """Add the cuts that are not there yet; return how many."""
        there = {cut.key for cut in self.cuts}
        fresh = list({cut.key: cut for cut in cuts if cut.key not in there}.values())
        self._add_rows(fresh)
        self.cuts += fresh
        self.idle = np.concatenate([self.idle, np.zeros(len(fresh), np.int64)])
        return len(fresh)

    def add_columns(self, u: Array, v: Array) -> None:
        """Add pairs as columns."""
        start, idle = self.start(), self.idle
        self.u, self.v = np.concatenate([self.u, u]), np.concatenate([self.v, v])
        self.restart(start)
        self.idle = idle

    def confine(self, lower: Array, upper: Array) -> None:
        """Set the bounds of the columns."""
        changed = np.flatnonzero((lower != self.lower) | (upper != self.upper))
        self.lower, self.upper = lower, upper
        if len(changed):
            self._solver.changeColsBounds(len(changed), changed.astype(np.int32), lower[changed], upper[changed])

    def trial(self, column: int, value: float, iterations: int) -> str:
        """Fix one column, take a few simplex steps from the last basis, and leave columns and basis as they were."""
        basis, number = self._solver.getBasis(), np.array([column], np.int32)
        x, dual, idle = self.x, self.dual, self.idle
        self._solver.changeColsBounds(1, number, np.array([value]), np.array([value]))
        status = self.solve(iterations)
        self.tried = self.dual
        self.x, self.dual, self.idle = x, dual, idle
        self._solver.changeColsBounds(1, number, self.lower[[column]], self.upper[[column]])
        self._solver.setBasis(basis)
        return status

    def solve(self, iterations: int = 2**31 - 1) -> str:
        """Run the dual simplex method; return "optimal", "infeasible" or "stopped"."""
        self._solver.setOptionValue("simplex_iteration_limit", iterations)
        self._solver.run()
        status, kind = self._solver.getModelStatus(), self._highs.HighsModelStatus
        solution = self._solver.getSolution()
        self.x, self.dual = np.array(solution.col_value), np.array(solution.row_dual)
        if status == kind.kOptimal:
            self.idle = np.where(self.dual[self.n :] > 1e-9, 0, self.idle + 1)
            return "optimal"
        return "infeasible" if status == kind.kInfeasible else "stopped"

    def point(self) -> Point:
        """Return the positive part of the last solution."""
        positive = self.x > 1e-9
        return Point(self.n, self.u[positive], self.v[positive], self.x[positive])

    def bound(self, decided: Array, dual: Array | None = None) -> tuple[int, Array]:
        """Return a lower bound in parts of 1 / GRAIN of a unit, and the reduced cost of each pair, all integers.

        `decided` [pairs] is 1 for pairs that branching put into the tour, -1 for those it left out, else 0.
        """
        dual = self.dual if dual is None else dual
        return self._bound(dual / self.scale, self.distance[self.pair_u, self.pair_v], decided)

    def refuted(self, decided: Array) -> bool:
        """Say whether the multipliers HiGHS has for the verdict "infeasible" prove it: a positive bound at no cost."""
        ray = np.array(self._solver.getDualRay()[-1], dtype=np.float64)
        if len(ray) != self.n + len(self.cuts) or not np.abs(ray).max():
            return False
        free = np.zeros(len(self.pair_u), np.int64)
        ray = ray / np.abs(ray).max() * 1000
        return any(self._bound(sign * ray, free, decided)[0] > 0 for sign in (1, -1))

    def _bound(self, dual: Array, distance: Array, decided: Array) -> tuple[int, Array]:
        node = np.rint(dual[: self.n] * GRAIN)
        weight = np.rint(dual[self.n :] * GRAIN).clip(min=0)
        if np.abs(node).sum() * self.n + weight.sum() * self.n**2 + float(distance.sum()) * GRAIN > LARGEST:
            return -LARGEST, np.zeros(len(distance), np.int64)
        node, weight = node.astype(np.int64), weight.astype(np.int64)
        used = np.flatnonzero(weight)
        labels = stacked([self.cuts[row] for row in used], self.n)
        reduced = reduced_costs(distance * GRAIN, node, weight[used], *labels, self.pair_u, self.pair_v)
        counted = ((reduced < 0) & (decided >= 0)) | (decided > 0) | self.must
        total = 2 * int(node.sum()) + sum(int(weight[row]) * self.cuts[row].least for row in used)
        return total + int(reduced[counted].sum()), reduced

    def _keys(self) -> list[int]:
        return (self.u * self.n + self.v).tolist()

    def _add_rows(self, cuts: Sequence[Cut]) -> None:
        if not cuts:
            return
        table = coefficients(*stacked(cuts, self.n), self.u, self.v)
        rows, columns = np.nonzero(table)
        starts = np.searchsorted(rows, np.arange(len(cuts))).astype(np.int32)
        least = np.array([cut.least for cut in cuts], float)
        most = np.full(len(cuts), self._highs.kHighsInf)
        values = table[rows, columns].astype(float)
        self._solver.addRows(len(cuts), least, most, len(columns), starts, columns.astype(np.int32), values)
