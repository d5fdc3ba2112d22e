"""Shortest tours against Held-Karp, TSPLIB and LKH."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from tests.helpers.tours import TSPLIB, coordinates, random_points, shortest_length

from graphtrial.core.errors import InvalidGraphError, MissingDependencyError
from graphtrial.datasets.tsp.dataset import SMALL, small_tours
from graphtrial.tsp.distances import distances
from graphtrial.tsp.heuristic import iterated_local_search, tour_length
from graphtrial.tsp.result import Limits
from graphtrial.tsp.solver import solve

pytest.importorskip("highspy")


@pytest.mark.parametrize("metric", ["euclidean", "geographic"])
@pytest.mark.parametrize("grid", [0, 3])
def test_small_tours_match_held_karp(metric: str, grid: int) -> None:
    for n in range(5, 11):
        points = random_points(n, seed=n, grid=grid)
        actual = solve(points, metric)
        assert actual.proved
        assert actual.length == actual.bound == shortest_length(distances(points, metric))
        np.testing.assert_array_equal(np.sort(actual.tour), np.arange(n))
        assert tour_length(distances(points, metric), actual.tour) == actual.length


@pytest.mark.parametrize("name", TSPLIB)
def test_published_instances_have_their_published_lengths(name: str) -> None:
    text, length = TSPLIB[name]
    actual = solve(coordinates(text), "geographic")
    assert (actual.length, actual.proved) == (length, True)


def test_shipped_tours_have_their_recorded_length() -> None:
    shipped = small_tours()
    for number, tour in enumerate(np.split(shipped.tours, np.cumsum(shipped.sizes)[:-1])):
        points = SMALL.points(number)
        np.testing.assert_array_equal(np.sort(tour), np.arange(len(points)))
        assert tour_length(distances(points, "euclidean"), tour) == round(shipped.length[number] * 1_000_000)


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 81, 148])
def test_solver_reproduces_the_shipped_tours(number: int) -> None:
    shipped = small_tours()
    actual = solve(SMALL.points(number))
    start = int(shipped.sizes[:number].sum())
    assert actual.proved
    np.testing.assert_array_equal(actual.tour, shipped.tours[start : start + int(shipped.sizes[number])])


def test_lkh_finds_no_shorter_tour() -> None:
    elkai = pytest.importorskip("elkai")  # LKH, for academic use: a check where somebody has it, not a dependency
    for number in range(20):
        distance = distances(SMALL.points(number), "euclidean")
        tour = np.array(elkai.DistanceMatrix(distance.tolist()).solve_tsp()[:-1])
        assert tour_length(distance, tour) >= round(small_tours().length[number] * 1_000_000)


def test_result_does_not_depend_on_the_initial_tour() -> None:
    from graphtrial.tsp.branch_and_cut import prove

    distance = distances(SMALL.points(0), "euclidean")
    actual = prove(distance, np.arange(len(distance)), Limits())
    assert actual.proved
    assert actual.length == round(small_tours().length[0] * 1_000_000)


@pytest.mark.slow
def test_unfinished_proof_gives_a_valid_bound() -> None:
    given_up = solve(SMALL.points(81), limits=Limits(nodes=1))
    shortest = round(small_tours().length[81] * 1_000_000)
    assert not given_up.proved
    assert 0.97 * shortest < given_up.bound < shortest <= given_up.length


@pytest.mark.slow
def test_heuristic_is_deterministic_and_near_optimal() -> None:
    shipped = small_tours()
    for number in range(10):
        distance = distances(SMALL.points(number), "euclidean")
        tour = iterated_local_search(distance, 500, seed=1)
        np.testing.assert_array_equal(tour, iterated_local_search(distance, 500, seed=1))
        np.testing.assert_array_equal(np.sort(tour), np.arange(len(distance)))
        assert tour_length(distance, tour) <= 1.02 * round(shipped.length[number] * 1_000_000)


@pytest.mark.parametrize("shape", [(4, 2), (10, 3), (10,)])
def test_invalid_points_raise(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidGraphError, match="at least five points"):
        solve(np.zeros(shape))


def test_missing_highs_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(MissingDependencyError, match=r"graphtrial\[tsp\]"):
        solve(random_points(10, seed=0))
