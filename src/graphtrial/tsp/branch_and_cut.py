"""Branch and cut: best-first search over subproblems with cutting planes, pricing and reduced-cost fixing."""

from __future__ import annotations

import heapq
import logging
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.tsp.branching import strong_branching
from graphtrial.tsp.heuristic import canonical, iterated_local_search, nearest_neighbours, tour_length
from graphtrial.tsp.relaxation import GRAIN, Relaxation, WarmStart
from graphtrial.tsp.result import Limits, Proof
from graphtrial.tsp.separation import SupportGraph, combs, subtours

Array = npt.NDArray[Any]
logger = logging.getLogger(__name__)

GUIDED_NEIGHBOURS = 6
STARTS = 4
"""Candidate neighbours, and number of seeds, of the local search guided by reduced costs."""
INFEASIBLE = 2**62
"""Bound of an infeasible subproblem."""


@dataclass(frozen=True)
class CutSettings:
    """Shrinkings and cuts per round; separation stops after `patience` rounds that close less than `gap_fraction`."""

    shrinkings: int
    cuts: int
    gap_fraction: float
    patience: int


ROOT = CutSettings(shrinkings=4, cuts=150, gap_fraction=0.01, patience=12)
LATER = CutSettings(shrinkings=1, cuts=40, gap_fraction=0.05, patience=2)


@dataclass(frozen=True)
class Subproblem:
    """Node of the search tree: fixed variables [pairs] (1 in, -1 out, 0 free), lower bound and warm start."""

    fixed: Array
    bound: int
    start: WarmStart


def prove(distance: Array, tour: Array, limits: Limits) -> Proof:
    """Prove the tour optimal or find the shortest one, within the limits; `tour` is the initial incumbent."""
    return _Search(distance, tour, limits).run()


class _Search:
    def __init__(self, distance: Array, tour: Array, limits: Limits) -> None:
        self.distance, self.limits = distance, limits
        self.began = time.process_time()
        self.n = n = len(distance)
        self.tour, self.length = tour, tour_length(distance, tour)
        columns = np.zeros((n, n), bool)
        columns[np.arange(n)[:, None], nearest_neighbours(distance, min(6, n - 1))] = True
        columns[tour, np.roll(tour, -1)] = True
        self.lp = Relaxation(distance, columns | columns.T)
        self.queue: list[tuple[int, int, Subproblem]] = []
        self.nodes = self.rounds = 0
        self.reduced = np.zeros(0, np.int64)  # reduced costs at the root
        self.unresolved = INFEASIBLE  # lowest bound of a subproblem on which HiGHS failed

    @property
    def target(self) -> int:
        """Pruning threshold: a bound above it excludes a shorter tour."""
        return (self.length - 1) * GRAIN

    def out_of_time(self) -> bool:
        return time.process_time() - self.began > self.limits.seconds

    def run(self) -> Proof:
        self._process(np.zeros(len(self.lp.pair_u), np.int8), 0, ROOT)
        if self.queue and self._guided_local_search():
            problem = self.queue.pop()[2]
            self.lp.restart(problem.start)
            self._process(np.zeros(len(self.lp.pair_u), np.int8), problem.bound, ROOT)
        while self.queue and not self.out_of_time() and self.nodes < self.limits.nodes:
            problem = heapq.heappop(self.queue)[2]
            if problem.bound <= self.target:
                self._branch(problem)
        lowest = min([self.unresolved, *(item[0] for item in self.queue)])
        proved = lowest > self.target
        bound = self.length if proved else max(0, -(-lowest // GRAIN))
        return Proof(canonical(self.tour), self.length, bound, proved, self.nodes, time.process_time() - self.began)

    def _process(self, fixed: Array, bound: int, effort: CutSettings) -> None:
        """Run the cutting-plane loop on a subproblem, and queue it for branching unless it is pruned."""
        cut_bound, fixed = self._cut(fixed, effort)
        bound = max(bound, cut_bound)
        self.nodes += 1
        logger.debug(
            "%.2f s: subproblem %d, bound %.0f of %d, %d pairs, %d columns, %d cuts, %d waiting",
            time.process_time() - self.began, self.nodes, bound / GRAIN, self.length, len(self.lp.pair_u),
            len(self.lp.u), len(self.lp.cuts), len(self.queue),
        )  # fmt: skip
        if bound <= self.target:
            heapq.heappush(self.queue, (bound, self.nodes, Subproblem(fixed, bound, self.lp.start())))

    def _cut(self, fixed: Array, effort: CutSettings) -> tuple[int, Array]:
        """Cutting-plane loop: solve, price, fix by reduced cost, separate; return the bound and the fixed variables."""
        lp, best, before, stalled = self.lp, 0, 0, 0
        root = effort is ROOT
        while True:
            self._set_bounds(fixed)
            status = lp.solve()
            if status == "infeasible" and lp.proves_infeasible(fixed):
                return INFEASIBLE, fixed
            if status != "optimal":
                return best, fixed
            bound, reduced = lp.bound(fixed)
            best = max(best, bound)
            if best > self.target:
                return best, fixed
            if self._price(fixed, reduced):
                continue
            point = lp.point()
            cuts = subtours(point)
            if not cuts and self._update_incumbent(point):
                continue
            fixed = self._fix_by_reduced_cost(bound, reduced, fixed, root)
            if len(cuts) < 10:
                self.rounds += 1
                cuts = [*cuts, *combs(point, lp.cuts, self.rounds, effort.shrinkings)[: effort.cuts]]
            stalled = stalled + 1 if best - before < effort.gap_fraction * (self.target - best) else 0
            before = best
            if stalled > effort.patience or self.out_of_time():
                return best, fixed
            if len(lp.u) > 1.3 * len(lp.pair_u) or (lp.idle > 4).sum() > 100:
                lp.purge(4)
            if not lp.add_cuts(cuts):
                return best, fixed

    def _set_bounds(self, fixed: Array) -> None:
        lp = self.lp
        state = np.full((self.n, self.n), -1, np.int8)
        state[lp.pair_u, lp.pair_v] = np.where(lp.fixed_in, 1, fixed)
        of_column = state[lp.u, lp.v]
        lp.set_bounds((of_column > 0).astype(float), (of_column >= 0).astype(float))

    def _price(self, fixed: Array, reduced: Array) -> bool:
        """Pricing: add missing columns of negative reduced cost, or all of them where few are left."""
        lp = self.lp
        absent = np.ones((self.n, self.n), bool)
        absent[lp.u, lp.v] = False
        missing = absent[lp.pair_u, lp.pair_v]
        if missing.any() and len(missing) > 5 * self.n:
            missing &= (reduced < 0) & (fixed >= 0)
        if not missing.any():
            return False
        lp.add_columns(lp.pair_u[missing], lp.pair_v[missing])
        return True

    def _fix_by_reduced_cost(self, bound: int, reduced: Array, fixed: Array, root: bool) -> Array:
        """Reduced-cost fixing: fix edges whose other value would exceed the target; permanent at the root."""
        lp = self.lp
        out = (bound + reduced > self.target) & (fixed == 0)
        into = (bound - reduced > self.target) & (fixed == 0) & (reduced < 0)
        if not root:
            return np.where(out, -1, np.where(into, 1, fixed)).astype(np.int8)
        lp.fixed_in |= into
        lp.pair_u, lp.pair_v, lp.fixed_in = lp.pair_u[~out], lp.pair_v[~out], lp.fixed_in[~out]
        self.reduced = reduced[~out]
        return np.zeros(len(lp.pair_u), np.int8)

    def _guided_local_search(self) -> bool:
        """Local search with candidate lists by reduced cost, more informative than distance (Helsgaun 2000)."""
        lp, n = self.lp, self.n
        low = np.full((n, n), 2 * int(self.distance.max()) * GRAIN) + self.distance
        low[lp.pair_u, lp.pair_v] = low[lp.pair_v, lp.pair_u] = self.reduced
        candidates = nearest_neighbours(low, min(GUIDED_NEIGHBOURS, n - 1))
        by_distance = np.argsort(np.take_along_axis(self.distance, candidates, axis=1), axis=1, kind="stable")
        candidates = np.take_along_axis(candidates, by_distance, axis=1)
        before = self.length
        for seed in range(STARTS):
            tour = iterated_local_search(self.distance, 10 * n, 100 + seed, candidates)
            if tour_length(self.distance, tour) < self.length:
                self.tour, self.length = tour, tour_length(self.distance, tour)
        return self.length < before

    def _update_incumbent(self, point: SupportGraph) -> bool:
        """Update the incumbent where the LP solution is a shorter tour; return whether it was."""
        if len(point.x) != self.n or point.x.min() < 1 - 1e-6:
            return False
        order = _cycle_order(self.n, point.u, point.v)
        length = tour_length(self.distance, order)
        shorter = length < self.length
        if shorter:
            self.tour, self.length = order, length
        return shorter

    def _branch(self, problem: Subproblem) -> None:
        """Branch on one edge variable."""
        lp = self.lp
        lp.restart(problem.start)
        self._set_bounds(problem.fixed)
        status = lp.solve()
        if status == "infeasible" and lp.proves_infeasible(problem.fixed):
            return
        if status != "optimal":
            self.unresolved = min(self.unresolved, problem.bound)
            return
        pair = strong_branching(lp, problem.fixed, self.target)
        if pair is None:  # eliminations made the solution integral: a tour, or subtours to cut off
            self._process(problem.fixed, problem.bound, LATER)
            return
        start = lp.start()
        for value in (1, -1):
            fixed = problem.fixed.copy()
            fixed[pair] = value
            lp.restart(start)
            self._process(fixed, problem.bound, LATER)


def _cycle_order(n: int, u: Array, v: Array) -> Array:
    """Return the points in the order of the cycle formed by these edges."""
    ends = np.concatenate([u, v])
    beside = np.concatenate([v, u])[np.argsort(ends, kind="stable")].reshape(n, 2)
    order = np.zeros(n, np.int64)
    before = -1
    for index in range(1, n):
        here = order[index - 1]
        order[index] = beside[here, 0] if beside[here, 0] != before else beside[here, 1]
        before = here
    return order
