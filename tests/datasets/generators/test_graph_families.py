"""The ten families against Python's `random`, NetworkX and their definitions."""

from __future__ import annotations

import itertools
import math
import random

import networkx as nx
import numpy as np
import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.generators import families
from graphtrial.datasets.generators.families import (
    FREQUENCIES,
    NUMPY_FAMILIES,
    PYTHON_FAMILIES,
    PythonRandom,
    set_order,
    tree,
)
from graphtrial.datasets.generators.graph_theory import AS_PUBLISHED, CORRECTED, draw

SIZES = (15, 16, 17, 18, 20, 24)


def drawn(family: str, nodes: int, seed: int) -> nx.Graph:
    if family in NUMPY_FAMILIES:
        links = NUMPY_FAMILIES[family](nodes, np.random.RandomState(seed))
    else:
        links = PYTHON_FAMILIES[family](nodes, seed, PythonRandom(seed))
    graph = nx.empty_graph(nodes)
    graph.add_edges_from(links)
    assert graph.number_of_edges() == len(links)
    return graph


def test_random_numbers_match_python() -> None:
    ours, theirs = PythonRandom(1234), random.Random(1234)
    assert [ours.random() for _ in range(3)] == [theirs.random() for _ in range(3)]
    assert ours.uniforms(1000).tolist() == [theirs.random() for _ in range(1000)]
    assert [ours.below(limit) for limit in range(1, 50)] == [theirs.randrange(limit) for limit in range(1, 50)]
    order = list(range(23))
    theirs.shuffle(order)
    assert ours.shuffled(23) == order


def test_set_iteration_order_matches_python() -> None:
    for count in (1, 2, 3, 4):
        for numbers in itertools.islice(itertools.permutations(range(24), count), 0, None, 97 if count > 3 else 1):
            assert set_order(list(numbers)) == list(build(numbers)), numbers
    rng = random.Random(0)
    for _ in range(500):
        numbers = rng.sample(range(24), rng.randint(5, 23))
        assert set_order(numbers) == list(build(numbers))


def build(numbers: tuple[int, ...] | list[int]) -> set[int]:
    built: set[int] = set()
    for number in numbers:
        built.add(number)
    return built


@pytest.mark.parametrize("nodes", SIZES)
def test_deterministic_families_match_networkx(nodes: int) -> None:
    side = max(s for s in range(1, math.isqrt(nodes) + 1) if nodes % s == 0)
    ladder = nx.ladder_graph(nodes // 2)
    if nodes % 2:
        ladder.add_edge(0, nodes - 1)
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, nodes // side))
    expected = {
        "grid": grid,
        "caveman": nx.caveman_graph(side, nodes // side),
        "ladder": ladder,
        "line": nx.path_graph(nodes),
        "star": nx.star_graph(nodes - 1),
    }
    for family, graph in expected.items():
        assert nx.utils.graphs_equal(drawn(family, nodes, 5), graph), family


@pytest.mark.slow
@pytest.mark.parametrize("nodes", SIZES)
def test_random_graphs_match_networkx(nodes: int) -> None:
    for seed in range(40):
        chance = random.Random(seed).random() * nodes
        assert nx.utils.graphs_equal(
            drawn("erdos-renyi", nodes, seed), nx.fast_gnp_random_graph(nodes, chance / nodes, seed)
        )
        try:
            expected = nx.random_powerlaw_tree(nodes, seed=seed, tries=10_000)
        except nx.NetworkXError:
            continue
        assert nx.utils.graphs_equal(drawn("tree", nodes, seed), expected)


@pytest.mark.parametrize("nodes", SIZES)
def test_preferential_attachment_matches_old_networkx(nodes: int) -> None:
    for seed in range(40):
        count = int(random.Random(seed).random() * (nodes - 1)) + 1
        assert nx.utils.graphs_equal(drawn("barabasi-albert", nodes, seed), old_barabasi_albert(nodes, count, seed))


def old_barabasi_albert(nodes: int, count: int, seed: int) -> nx.Graph:
    """NetworkX began with isolated nodes until version 2.5, today with a star."""
    source = random.Random(seed)
    graph = nx.empty_graph(count)
    chosen, ends = set(range(count)), []
    for node in range(count, nodes):
        graph.add_edges_from((node, other) for other in chosen)
        ends += [*chosen, *[node] * count]
        chosen = set()
        while len(chosen) < count:
            chosen.add(source.choice(ends))
    return graph


@pytest.mark.parametrize("family", ["tree", "line", "star", "caterpillar", "lobster"])
def test_trees_are_trees(family: str) -> None:
    for seed in range(20):
        assert nx.is_tree(drawn(family, 19, seed))


def test_caterpillars_and_lobsters_reduce_to_paths() -> None:
    for seed in range(20):
        bare = nx.Graph(drawn("caterpillar", 20, seed))
        bare.remove_nodes_from([v for v, degree in dict(bare.degree).items() if degree == 1])
        assert max(dict(bare.degree).values(), default=0) <= 2
        bare = nx.Graph(drawn("lobster", 20, seed))
        for _ in range(2):
            bare.remove_nodes_from([v for v, degree in dict(bare.degree).items() if degree <= 1])
        assert max(dict(bare.degree).values(), default=0) <= 2


@pytest.mark.slow
def test_family_frequencies_match_the_probabilities() -> None:
    actual = [draw(15, seed, None, CORRECTED)[1] for seed in range(1500)]
    for family, frequency in FREQUENCIES.items():
        assert abs(actual.count(family) / 1500 - frequency) < 5 * math.sqrt(frequency * (1 - frequency) / 1500)
    assert sum(FREQUENCIES.values()) == pytest.approx(1)


def test_edge_dropout_as_described_and_as_published() -> None:
    remaining = {}
    for quirks in (CORRECTED, AS_PUBLISHED):
        graphs = [draw(20, seed, "line", quirks)[0].adjacency for seed in range(300)]
        remaining[quirks] = np.mean([joined.sum() / 2 for joined in graphs]) / 19
        assert all((joined == joined.T).all() and not joined.diagonal().any() for joined in graphs)
    assert remaining[CORRECTED] == pytest.approx(1.0, abs=0.04)  # 0.9 kept, and a tenth of as many added
    assert remaining[AS_PUBLISHED] == pytest.approx(0.98 + 2 * (0.1 * 19 / 171) ** 2 * 171 / 19, abs=0.02)


def test_random_graphs_do_not_depend_on_rounding_of_logarithms(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = range(1235, 1835)
    before = [sorted(drawn("erdos-renyi", 17, seed).edges) for seed in seeds]
    exact, turn = math.log, itertools.cycle([math.inf, -math.inf, -math.inf, math.inf, math.inf])
    monkeypatch.setattr(math, "log", lambda number: math.nextafter(exact(number), next(turn)))
    assert [sorted(drawn("erdos-renyi", 17, seed).edges) for seed in seeds] == before


def test_tree_search_failure_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, "TREE_SWAPS", 0)
    hopeless = next(seed for seed in range(9) if sum(degrees(20, seed)) != 38)
    with pytest.raises(GraphTrialError, match="another seed"):
        tree(20, hopeless, PythonRandom(hopeless))


def degrees(nodes: int, seed: int) -> list[int]:
    source = random.Random(seed)
    return [min(nodes, round(source.paretovariate(2.0))) for _ in range(nodes)]
