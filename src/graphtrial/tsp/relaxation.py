"""Linear relaxation solved by HiGHS, with lower bounds that are safe against rounding errors.

HiGHS computes in floating point, so its objective is not a safe bound. But any dual multipliers of the degree
constraints and (nonnegative) of the cuts give a valid bound: they are rounded to multiples of 1 / GRAIN, and the dual
objective is recomputed in integers over every edge that a better tour may still use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import missing_extra
from graphtrial.tsp.cuts import Cut, coefficients, reduced_costs, stacked
from graphtrial.tsp.separation import SupportGraph

Array = npt.NDArray[Any]

GRAIN = 1024
"""Fixed-point denominator of the dual multipliers."""
LARGEST = 2**60


@dataclass
class WarmStart:
    """Warm start of the simplex method: the cuts, and the basis status of columns and rows."""

    cuts: list[Cut] = field(default_factory=list)
    columns: dict[int, Any] = field(default_factory=dict)
    rows: list[Any] = field(default_factory=list)


class Relaxation:
    """LP relaxation of the TSP: degree constraints and the cuts added so far, with column generation.

    `pair_u`, `pair_v` are the edges that are not eliminated, `fixed_in` masks those fixed to 1 at the root. `u`, `v`
    are the edges that are columns of the LP.
    """

    def __init__(self, distance: Array, columns: Array) -> None:
        try:
            import highspy
        except ImportError as error:
            raise missing_extra("the proof that a tour is the shortest", "HiGHS", "tsp") from error
        self._highs = highspy
        self.distance, self.n = distance, len(distance)
        self.pair_u, self.pair_v = np.triu_indices(self.n, 1)
        self.fixed_in = np.zeros(len(self.pair_u), bool)
        self.u, self.v = np.nonzero(np.triu(columns, 1))
        self.cuts: list[Cut] = []
        self.idle = np.zeros(0, np.int64)
        self.x = self.dual = self.probe_dual = np.zeros(0)
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
        self.restart(WarmStart())

    def restart(self, start: WarmStart) -> None:
        """Load the LP with free columns and the rows and basis of a warm start."""
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

    def start(self) -> WarmStart:
        """Return the current cuts and basis."""
        basis = self._solver.getBasis()
        return WarmStart(
            list(self.cuts), dict(zip(self._keys(), basis.col_status, strict=True)), list(basis.row_status)
        )

    def purge(self, patience: int) -> None:
        """Remove cuts that were slack for more than `patience` runs, and columns of eliminated edges."""
        start = self.start()
        basic = self._highs.HighsBasisStatus.kBasic
        keep = [row for row, age in enumerate(self.idle) if age <= patience or start.rows[self.n + row] != basic]
        alive = np.zeros((self.n, self.n), bool)
        alive[self.pair_u, self.pair_v] = True
        stay = alive[self.u, self.v] | np.array([start.columns[key] == basic for key in self._keys()], bool)
        self.u, self.v = self.u[stay], self.v[stay]
        idle = self.idle[keep]
        rows = [*start.rows[: self.n], *(start.rows[self.n + row] for row in keep)]
        self.restart(WarmStart([self.cuts[row] for row in keep], start.columns, rows))
        self.idle = idle

    def add_cuts(self, cuts: Sequence[Cut]) -> int:
        """Add the cuts that are not in the LP yet; return their number."""
        there = {cut.key for cut in self.cuts}
        fresh = list({cut.key: cut for cut in cuts if cut.key not in there}.values())
        self._add_rows(fresh)
        self.cuts += fresh
        self.idle = np.concatenate([self.idle, np.zeros(len(fresh), np.int64)])
        return len(fresh)

    def add_columns(self, u: Array, v: Array) -> None:
        """Add edges as columns (pricing)."""
        start, idle = self.start(), self.idle
        self.u, self.v = np.concatenate([self.u, u]), np.concatenate([self.v, v])
        self.restart(start)
        self.idle = idle

    def set_bounds(self, lower: Array, upper: Array) -> None:
        """Set the variable bounds of the columns."""
        changed = np.flatnonzero((lower != self.lower) | (upper != self.upper))
        self.lower, self.upper = lower, upper
        if len(changed):
            self._solver.changeColsBounds(len(changed), changed.astype(np.int32), lower[changed], upper[changed])

    def probe(self, column: int, value: float, iterations: int) -> str:
        """Fix one variable, run a few simplex iterations from the last basis, and restore bounds and basis."""
        basis, number = self._solver.getBasis(), np.array([column], np.int32)
        x, dual, idle = self.x, self.dual, self.idle
        self._solver.changeColsBounds(1, number, np.array([value]), np.array([value]))
        status = self.solve(iterations)
        self.probe_dual = self.dual
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

    def point(self) -> SupportGraph:
        """Return the support graph of the last solution."""
        positive = self.x > 1e-9
        return SupportGraph(self.n, self.u[positive], self.v[positive], self.x[positive])

    def bound(self, fixed: Array, dual: Array | None = None) -> tuple[int, Array]:
        """Return a safe lower bound and the reduced cost of each pair, as integers in units of 1 / GRAIN.

        `fixed` [pairs] is 1 for edges fixed into the tour, -1 for those fixed out, 0 for free ones.
        """
        dual = self.dual if dual is None else dual
        return self._bound(dual / self.scale, self.distance[self.pair_u, self.pair_v], fixed)

    def proves_infeasible(self, fixed: Array) -> bool:
        """Return whether HiGHS's dual ray proves infeasibility in integers (Farkas): a positive bound at zero cost."""
        ray = np.array(self._solver.getDualRay()[-1], dtype=np.float64)
        if len(ray) != self.n + len(self.cuts) or not np.abs(ray).max():
            return False
        free = np.zeros(len(self.pair_u), np.int64)
        ray = ray / np.abs(ray).max() * 1000
        return any(self._bound(sign * ray, free, fixed)[0] > 0 for sign in (1, -1))

    def _bound(self, dual: Array, distance: Array, fixed: Array) -> tuple[int, Array]:
        node = np.rint(dual[: self.n] * GRAIN)
        weight = np.rint(dual[self.n :] * GRAIN).clip(min=0)
        if np.abs(node).sum() * self.n + weight.sum() * self.n**2 + float(distance.sum()) * GRAIN > LARGEST:
            return -LARGEST, np.zeros(len(distance), np.int64)
        node, weight = node.astype(np.int64), weight.astype(np.int64)
        used = np.flatnonzero(weight)
        labels = stacked([self.cuts[row] for row in used], self.n)
        reduced = reduced_costs(distance * GRAIN, node, weight[used], *labels, self.pair_u, self.pair_v)
        counted = ((reduced < 0) & (fixed >= 0)) | (fixed > 0) | self.fixed_in
        total = 2 * int(node.sum()) + sum(int(weight[row]) * self.cuts[row].rhs for row in used)
        return total + int(reduced[counted].sum()), reduced

    def _keys(self) -> list[int]:
        keys: list[int] = (self.u * self.n + self.v).tolist()
        return keys

    def _add_rows(self, cuts: Sequence[Cut]) -> None:
        if not cuts:
            return
        table = coefficients(*stacked(cuts, self.n), self.u, self.v)
        rows, columns = np.nonzero(table)
        starts = np.searchsorted(rows, np.arange(len(cuts))).astype(np.int32)
        rhs = np.array([cut.rhs for cut in cuts], float)
        most = np.full(len(cuts), self._highs.kHighsInf)
        values = table[rows, columns].astype(float)
        self._solver.addRows(len(cuts), rhs, most, len(columns), starts, columns.astype(np.int32), values)
