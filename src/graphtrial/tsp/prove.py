"""Branch and cut: shorten a tour until it is proved that no shorter one exists."""

from __future__ import annotations

import heapq
import logging
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.tsp.branching import choose
from graphtrial.tsp.heuristic import canonical, good_tour, nearest, tour_length
from graphtrial.tsp.proof import Limits, Proof
from graphtrial.tsp.relaxation import GRAIN, Relaxation, Start
from graphtrial.tsp.separation import Point, combs, subtours

Array = npt.NDArray[Any]
logger = logging.getLogger(__name__)

PROMISING = 6
STARTS = 4
"""The neighbours and the number of tours of the search that the relaxation guides."""
NEVER = 2**62
"""The bound of a subproblem that has no tour."""


@dataclass(frozen=True)
class Effort:
    """How to add cuts: shrinkings and cuts per round, and how many rounds may close less than a share of the gap."""

    shrinkings: int
    cuts: int
    share: float
    patience: int


ROOT = Effort(shrinkings=4, cuts=150, share=0.01, patience=12)
LATER = Effort(shrinkings=1, cuts=40, share=0.05, patience=2)


@dataclass(frozen=True)
class Subproblem:
    """What was decided of each pair (1 in the tour, -1 not), a lower bound, and where to start from."""

    decided: Array
    bound: int
    start: Start


def prove(distance: Array, tour: Array, limits: Limits) -> Proof:
    """Return the shortest tour, or the best one found within the limits; `tour` is where to begin."""
    return _Search(distance, tour, limits).run()


class _Search:
    def __init__(self, distance: Array, tour: Array, limits: Limits) -> None:
        self.distance, self.limits = distance, limits
        self.began = time.process_time()
        self.n = n = len(distance)
        self.tour, self.length = tour, tour_length(distance, tour)
        columns = np.zeros((n, n), bool)
        columns[np.arange(n)[:, None], nearest(distance, min(6, n - 1))] = True
        columns[tour, np.roll(tour, -1)] = True
        self.lp = Relaxation(distance, columns | columns.T)
        self.queue: list[tuple[int, int, Subproblem]] = []
        self.nodes = self.rounds = 0
        self.reduced = np.zeros(0, np.int64)  # what each pair adds to the bound at the root
        self.lost = NEVER  # the lowest bound of a subproblem that neither HiGHS nor we could settle

    @property
    def target(self) -> int:
        """Bounds above this leave no room for a shorter tour."""
        return (self.length - 1) * GRAIN

    def late(self) -> bool:
        return time.process_time() - self.began > self.limits.seconds

    def run(self) -> Proof:
        self._enter(np.zeros(len(self.lp.pair_u), np.int8), 0, ROOT)
        if self.queue and self._search_promising():
            problem = self.queue.pop()[2]
            self.lp.restart(problem.start)
            self._enter(np.zeros(len(self.lp.pair_u), np.int8), problem.bound, ROOT)
        while self.queue and not self.late() and self.nodes < self.limits.nodes:
            problem = heapq.heappop(self.queue)[2]
            if problem.bound <= self.target:
                self._branch(problem)
        lowest = min([self.lost, *(item[0] for item in self.queue)])
        proved = lowest > self.target
        bound = self.length if proved else max(0, -(-lowest // GRAIN))
        return Proof(canonical(self.tour), self.length, bound, proved, self.nodes, time.process_time() - self.began)

    def _enter(self, decided: Array, bound: int, effort: Effort) -> None:
        """Cut a subproblem, and put it aside for branching where it may still hold a shorter tour."""
        found, decided = self._cut(decided, effort)
        bound = max(bound, found)
        self.nodes += 1
        logger.debug(
            "%.2f s: subproblem %d, bound %.0f of %d, %d pairs, %d columns, %d cuts, %d waiting",
            time.process_time() - self.began, self.nodes, bound / GRAIN, self.length, len(self.lp.pair_u),
            len(self.lp.u), len(self.lp.cuts), len(self.queue),
        )  # fmt: skip
        if bound <= self.target:
            heapq.heappush(self.queue, (bound, self.nodes, Subproblem(decided, bound, self.lp.start())))

    def _cut(self, decided: Array, effort: Effort) -> tuple[int, Array]:
        """Solve, price and add cuts while they help; return the bound and what is decided by then."""
        lp, best, before, stalled = self.lp, 0, 0, 0
        root = effort is ROOT
        while True:
            self._confine(decided)
            status = lp.solve()
            if status == "infeasible" and lp.refuted(decided):
                return NEVER, decided
            if status != "optimal":
                return best, decided
            bound, reduced = lp.bound(decided)
            best = max(best, bound)
            if best > self.target:
                return best, decided
            if self._price(decided, reduced):
                continue
            point = lp.point()
            found = subtours(point)
            if not found and self._take_over(point):
                continue
            decided = self._eliminate(bound, reduced, decided, root)
            if len(found) < 10:
                self.rounds += 1
                found = [*found, *combs(point, lp.cuts, self.rounds, effort.shrinkings)[: effort.cuts]]
            stalled = stalled + 1 if best - before < effort.share * (self.target - best) else 0
            before = best
            if stalled > effort.patience or self.late():
                return best, decided
            if len(lp.u) > 1.3 * len(lp.pair_u) or (lp.idle > 4).sum() > 100:
                lp.purge(4)
            if not lp.add_cuts(found):
                return best, decided

    def _confine(self, decided: Array) -> None:
        lp = self.lp
        state = np.full((self.n, self.n), -1, np.int8)
        state[lp.pair_u, lp.pair_v] = np.where(lp.must, 1, decided)
        of_column = state[lp.u, lp.v]
        lp.confine((of_column > 0).astype(float), (of_column >= 0).astype(float))

    def _price(self, decided: Array, reduced: Array) -> bool:
        """Add the pairs that are no columns yet and may lower the objective, or all where they are few."""
        lp = self.lp
        absent = np.ones((self.n, self.n), bool)
        absent[lp.u, lp.v] = False
        missing = absent[lp.pair_u, lp.pair_v]
        if missing.any() and len(missing) > 5 * self.n:
            missing &= (reduced < 0) & (decided >= 0)
        if not missing.any():
            return False
        lp.add_columns(lp.pair_u[missing], lp.pair_v[missing])
        return True

    def _eliminate(self, bound: int, reduced: Array, decided: Array, root: bool) -> Array:
        """Decide the pairs whose reduced cost leaves no other choice to a shorter tour; at the root, for good."""
        lp = self.lp
        out = (bound + reduced > self.target) & (decided == 0)
        into = (bound - reduced > self.target) & (decided == 0) & (reduced < 0)
        if not root:
            return np.where(out, -1, np.where(into, 1, decided)).astype(np.int8)
        lp.must |= into
        lp.pair_u, lp.pair_v, lp.must = lp.pair_u[~out], lp.pair_v[~out], lp.must[~out]
        self.reduced = reduced[~out]
        return np.zeros(len(lp.pair_u), np.int8)

    def _search_promising(self) -> bool:
        """Look for a shorter tour along pairs of low reduced cost, which tell more than distances (Helsgaun 2000)."""
        lp, n = self.lp, self.n
        low = np.full((n, n), 2 * int(self.distance.max()) * GRAIN) + self.distance
        low[lp.pair_u, lp.pair_v] = low[lp.pair_v, lp.pair_u] = self.reduced
        promising = nearest(low, min(PROMISING, n - 1))
        by_distance = np.argsort(np.take_along_axis(self.distance, promising, axis=1), axis=1, kind="stable")
        promising = np.take_along_axis(promising, by_distance, axis=1)
        before = self.length
        for seed in range(STARTS):
            tour = good_tour(self.distance, 10 * n, 100 + seed, promising)
            if tour_length(self.distance, tour) < self.length:
                self.tour, self.length = tour, tour_length(self.distance, tour)
        return self.length < before

    def _take_over(self, point: Point) -> bool:
        """Make a solution that is a shorter tour the best one."""
        if len(point.x) != self.n or point.x.min() < 1 - 1e-6:
            return False
        order = _walk(self.n, point.u, point.v)
        length = tour_length(self.distance, order)
        shorter = length < self.length
        if shorter:
            self.tour, self.length = order, length
        return shorter

    def _branch(self, problem: Subproblem) -> None:
        """Decide one pair both ways."""
        lp = self.lp
        lp.restart(problem.start)
        self._confine(problem.decided)
        status = lp.solve()
        if status == "infeasible" and lp.refuted(problem.decided):
            return
        if status != "optimal":
            self.lost = min(self.lost, problem.bound)
            return
        pair = choose(lp, problem.decided, self.target)
        if pair is None:  # pairs ruled out since the last run made the solution whole: a tour, or subtours to cut off
            self._enter(problem.decided, problem.bound, LATER)
            return
        start = lp.start()
        for value in (1, -1):
            decided = problem.decided.copy()
            decided[pair] = value
            lp.restart(start)
            self._enter(decided, problem.bound, LATER)


def _walk(n: int, u: Array, v: Array) -> Array:
    """Return the points in the order of a cycle of these edges."""
    ends = np.concatenate([u, v])
    beside = np.concatenate([v, u])[np.argsort(ends, kind="stable")].reshape(n, 2)
    order = np.zeros(n, np.int64)
    before = -1
    for place in range(1, n):
        here = order[place - 1]
        order[place] = beside[here, 0] if beside[here, 0] != before else beside[here, 1]
        before = here
    return order
