"""Harmonic centrality and milestones against NetworkX and obvious walks."""

from __future__ import annotations

from collections import deque
from typing import Any

import networkx as nx
import numpy as np
import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.wikipedia.centrality import harmonic, hyperball
from graphtrial.wikipedia.milestones import nearest_milestones


def random_categories(count: int, links: int, seed: int) -> tuple[nx.DiGraph, Any, Any]:
    """Return a graph from child to parent, with cycles, and the children of each category in order."""
    random = np.random.Generator(np.random.PCG64(seed))
    graph = nx.DiGraph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from((c, p) for c, p in random.integers(0, count, (links, 2)).tolist() if c != p)
    children = [sorted(graph.predecessors(node)) for node in range(count)]
    start = np.cumsum([0, *map(len, children)])
    return graph, start, np.array([child for below in children for child in below], np.int64)


@pytest.mark.parametrize(("count", "links"), [(1, 0), (5, 6), (64, 100), (200, 260), (300, 3000)])
def test_exact_centrality_matches_networkx(count: int, links: int) -> None:
    graph, start, children = random_categories(count, links, seed=count)
    expected = nx.harmonic_centrality(graph)  # sums 1 / d(x to c) over all x that reach c
    actual = harmonic(start, children, "exact")
    assert actual == pytest.approx([expected[node] for node in range(count)], rel=1e-12)
    assert np.array_equal(harmonic(start, children, "auto"), actual)


def test_umbrella_category_scores_highest() -> None:
    # 0 is above 1 and 2; 1 is above 3.
    start, children = np.array([0, 2, 3, 3, 3]), np.array([1, 2, 3])
    assert harmonic(start, children).tolist() == [2.5, 1.0, 0.0, 0.0]


@pytest.mark.slow
@pytest.mark.parametrize("log_registers", [6, 10])
def test_hyperball_approximates_exact_centrality(log_registers: int) -> None:
    _, start, children = random_categories(1500, 4000, seed=3)
    exact, close = harmonic(start, children, "exact"), hyperball(start, children, log_registers)
    large = exact > 20
    error = np.abs(close[large] / exact[large] - 1)
    assert error.mean() < 1.04 / np.sqrt(2**log_registers)
    assert np.corrcoef(exact, close)[0, 1] > 0.98
    assert np.array_equal(close, harmonic(start, children, "hyperball", log_registers))


@pytest.mark.slow
def test_hyperball_counts_small_balls_almost_exactly() -> None:
    depth = 12
    start = np.array([*range(depth), depth - 1])
    children = np.arange(1, depth)
    exact = [sum(1 / d for d in range(1, depth - node)) for node in range(depth)]
    assert hyperball(start, children, 12) == pytest.approx(exact, rel=0.01, abs=0.01)


def test_unknown_centrality_raises() -> None:
    with pytest.raises(GraphTrialError, match="not 'pagerank'"):
        harmonic(np.array([0, 0]), np.array([], np.int64), "pagerank")
    with pytest.raises(GraphTrialError, match="registers"):
        hyperball(np.array([0, 0]), np.array([], np.int64), 20)


def obvious_walk(children: dict[int, list[int]], milestones: set[int], pruned: set[int]) -> tuple[dict, dict]:
    """Return the milestone of each category and the one above each milestone, with dictionaries and a queue."""
    queue = deque(sorted(milestones - pruned))
    actual: dict[int, int] = {}
    while queue:
        node = queue.popleft()
        root = node if node in milestones else actual[node]
        for child in children[node]:
            if child not in actual and child != root and child not in pruned:
                actual[child] = root
                if child not in milestones:
                    queue.append(child)
    above = {node: actual[node] for node in milestones if node in actual}
    return {**actual, **{node: node for node in milestones}}, above


@pytest.mark.parametrize("seed", range(6))
def test_milestones_match_a_naive_walk(seed: int) -> None:
    count = 120
    _, start, children = random_categories(count, 200, seed)
    random = np.random.Generator(np.random.PCG64(seed + 100))
    milestone, pruned = random.random(count) < 0.15, random.random(count) < 0.1
    below = {node: children[start[node] : start[node + 1]].tolist() for node in range(count)}
    expected, above = obvious_walk(below, set(np.flatnonzero(milestone).tolist()), set(np.flatnonzero(pruned).tolist()))
    own, over = nearest_milestones(start, children, milestone, pruned)
    assert own.tolist() == [expected.get(node, -1) for node in range(count)]
    assert over.tolist() == [above.get(node, -1) for node in range(count)]


@pytest.mark.parametrize("seed", range(4))
def test_assigned_milestone_is_nearest(seed: int) -> None:
    count = 100
    graph, start, children = random_categories(count, 180, seed)
    milestone = np.random.Generator(np.random.PCG64(seed)).random(count) < 0.1
    own, _ = nearest_milestones(start, children, milestone, np.zeros(count, bool))
    chosen = set(np.flatnonzero(milestone).tolist())
    for node in range(count):
        distance = nx.single_source_shortest_path_length(graph, node)
        reachable = {other: distance[other] for other in chosen if other in distance}
        assert (own[node] >= 0) == bool(reachable)
        if reachable:
            assert reachable[int(own[node])] == min(reachable.values())


def test_search_stops_at_pruned_categories() -> None:
    # 0 > 1 > 2 > 3 in a chain; 1 is pruned, so that 0 is only its own milestone.
    start, children = np.array([0, 1, 2, 3, 3]), np.array([1, 2, 3])
    own, _ = nearest_milestones(start, children, np.array([1, 0, 0, 0], bool), np.array([0, 1, 0, 0], bool))
    assert own.tolist() == [0, -1, -1, -1]
