"""Cuts and bounds are valid for all tours."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.helpers.tours import random_points, shortest_length

from graphtrial.tsp.cuts import Cut, distinct, left_hand_sides, stacked
from graphtrial.tsp.distances import distances
from graphtrial.tsp.heuristic import iterated_local_search
from graphtrial.tsp.relaxation import GRAIN, Relaxation
from graphtrial.tsp.separation import SupportGraph, combs, subtours

pytest.importorskip("highspy")


def relaxed(n: int, seed: int) -> tuple[Relaxation, list[Cut]]:
    """A relaxation with the cuts of a few rounds, and all cuts that were found on the way."""
    lp = Relaxation(distances(random_points(n, seed), "euclidean"), np.ones((n, n), bool))
    actual: list[Cut] = []
    for number in range(8):
        assert lp.solve() == "optimal"
        cuts = [*subtours(lp.point()), *combs(lp.point(), lp.cuts, number, rounds=2)]
        check_violated(lp.point(), cuts)
        actual += cuts
        if not lp.add_cuts(cuts):
            break
    lp.solve()
    return lp, actual


def check_violated(point: SupportGraph, cuts: list[Cut]) -> None:
    left = left_hand_sides(*stacked(cuts, point.n), point.u, point.v, point.x)
    assert all(value < cut.rhs for value, cut in zip(left, cuts, strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_cuts_are_valid_for_every_tour(seed: int) -> None:
    n = 60
    _, cuts = relaxed(n, seed)
    assert any(cut.teeth == 0 for cut in cuts)
    assert any(cut.teeth >= 3 for cut in cuts)
    distance = distances(random_points(n, seed), "euclidean")
    tours = [iterated_local_search(distance, 50, start) for start in range(10)]
    tours += [np.random.default_rng(start).permutation(n) for start in range(10)]
    for tour in tours:
        left = left_hand_sides(*stacked(cuts, n), tour, np.roll(tour, -1), np.ones(n))
        assert all(value >= cut.rhs for value, cut in zip(left, cuts, strict=True))


def test_smallest_comb_is_valid_for_all_tours_of_eight_points() -> None:
    inside = np.array([[False, False, True, True, True, False, False, False]])
    tooth = np.array([[-1, -1, 0, 1, 2, 0, 1, 2]], np.int16)
    (comb,) = distinct(inside, tooth).values()
    assert (comb.teeth, comb.rhs) == (3, 10)
    left = []
    for rest in itertools.permutations(range(1, 8)):
        tour = np.array([0, *rest])
        left.append(left_hand_sides(comb.inside[None], comb.tooth[None], tour, np.roll(tour, -1), np.ones(8))[0])
    assert min(left) == comb.rhs


def test_equivalent_cuts_have_equal_keys() -> None:
    inside = np.array([[True, True, False, False, False, False, False], [False, False, True, True, True, True, True]])
    tooth = np.array([[2, -1, 2, 0, 0, 1, 1], [0, -1, 0, 1, 1, 2, 2]], np.int16)
    assert len(distinct(inside, tooth)) == 1


@pytest.mark.parametrize("seed", range(5))
def test_any_dual_multipliers_give_a_lower_bound(seed: int) -> None:
    n = 10
    distance = distances(random_points(n, seed), "euclidean")
    lp, _ = relaxed(n, seed)
    shortest = shortest_length(distance)
    nothing = np.zeros(len(lp.pair_u), np.int8)
    best, _ = lp.bound(nothing)
    assert 0.9 * shortest * GRAIN < best <= shortest * GRAIN
    rng = np.random.default_rng(seed)
    for spread in (1.0, 100.0, 10_000.0):
        wrong = lp.dual + rng.normal(0, spread * lp.scale, len(lp.dual))
        assert lp.bound(nothing, wrong)[0] <= shortest * GRAIN


def test_fixed_variables_enter_the_bound() -> None:
    n = 10
    distance = distances(random_points(n, seed=1), "euclidean")
    lp, _ = relaxed(n, seed=1)
    rng = np.random.default_rng(0)
    for _ in range(5):
        fixed = np.zeros(len(lp.pair_u), np.int8)
        fixed[rng.choice(len(fixed), 6, replace=False)] = [1, -1, -1, -1, -1, -1]
        expected = shortest_with(distance, lp, fixed)
        lp.set_bounds((fixed > 0).astype(float), (fixed >= 0).astype(float))
        assert lp.solve() == "optimal"
        assert lp.bound(fixed)[0] <= expected * GRAIN
    plain = np.zeros(len(lp.pair_u), np.int8)
    assert lp.bound(plain)[0] <= shortest_length(distance) * GRAIN


def shortest_with(distance: np.ndarray, lp: Relaxation, fixed: np.ndarray) -> int:
    """The shortest tour that keeps to the decisions: pairs left out are dear, a pair put in is free and paid after."""
    dear = 100 * int(distance.max())
    changed = distance.copy()
    for value, price in ((-1, dear), (1, -dear)):
        u, v = lp.pair_u[fixed == value], lp.pair_v[fixed == value]
        changed[u, v] += price
        changed[v, u] += price
    length = shortest_length(changed) + dear * int((fixed == 1).sum())
    assert length < dear
    return length


def test_infeasibility_proof_is_sound() -> None:
    lp, _ = relaxed(12, seed=0)
    fixed = np.zeros(len(lp.pair_u), np.int8)
    at_point = np.flatnonzero(lp.pair_u == 0)
    fixed[at_point[1:]] = -1  # one way to leave point 0 is left, and two are needed
    lp.set_bounds(np.zeros(len(lp.u)), (fixed >= 0).astype(float))
    assert lp.solve() == "infeasible"
    assert lp.proves_infeasible(fixed)
    assert not lp.proves_infeasible(np.zeros(len(lp.pair_u), np.int8))  # valid tours exist


def test_probing_restores_the_lp() -> None:
    lp, _ = relaxed(40, seed=2)
    before = lp.x.copy(), lp.dual.copy()
    lp.probe(int(np.argmin(np.abs(lp.x - 0.5))), 1.0, 20)
    np.testing.assert_array_equal(lp.x, before[0])
    assert lp.solve() == "optimal"
    np.testing.assert_allclose(lp.x, before[0], atol=1e-9)
