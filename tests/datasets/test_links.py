"""Hidden links of a graph of classified nodes."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from graphtrial.core.errors import GraphTrialError, UnknownNameError
from graphtrial.datasets import DATASETS, Dataset, load
from graphtrial.datasets.links import hide_links
from graphtrial.graphs import Column, GraphSet


def blocks(links: int = 300, seed: int = 0) -> tuple[nx.Graph, GraphSet]:
    """A graph of two classes, with self-links."""
    graph = nx.gnm_random_graph(60, links, seed=seed)
    graph.add_edges_from([(3, 3), (7, 7)])
    ends = np.array([*graph.to_directed().edges()]).T
    y = Column(np.arange(60) % 2, "node", types=2)
    x = Column(np.eye(60, dtype=np.float32), "node")
    return graph, GraphSet.build([60], [ends.shape[1]], ends, {"x": x, "y": y})


def parts(graphs: GraphSet) -> dict[tuple[int, int], np.ndarray]:
    part, linked = (np.asarray(graphs.column(name).values) for name in ("part", "y"))
    pairs = np.asarray(graphs.column("pairs").values)
    return {(p, y): pairs[(part == p) & (linked == y)] for p in range(4) for y in range(2)}


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("examples", [None, 100])
def test_positives_are_split_and_negatives_are_not_edges(hard: bool, examples: int | None) -> None:
    graph, graphs = blocks()
    actual = parts(hide_links(graphs, hard=hard, examples=examples, seed=0))
    trained = 255 if examples is None else examples
    fixed = 2 * trained if hard or examples else 0
    assert {key: len(rows) for key, rows in actual.items() if len(rows)} == {
        key: count
        for key, count in {(0, 1): 2 * trained, (1, 0): 15, (1, 1): 15, (2, 0): 30, (2, 1): 30, (3, 0): fixed}.items()
        if count
    }
    for (_, linked), rows in actual.items():
        for u, v in rows.tolist():
            assert u != v
            assert graph.has_edge(u, v) == bool(linked)
            if hard and not linked:
                assert u % 2 == v % 2
                assert nx.shortest_path_length(graph, u, v) == 2
    hidden = {frozenset(pair) for part in (1, 2) for pair in actual[part, 1].tolist()}
    seen = {frozenset(pair) for pair in actual[0, 1].tolist()}
    assert len(hidden) == 45
    assert len(seen) == trained
    assert not hidden & seen
    others = [frozenset(pair) for key in ((1, 0), (2, 0)) for pair in actual[key].tolist()]
    assert len(set(others)) == len(others)


def test_graph_contains_training_edges_only() -> None:
    _, graphs = blocks()
    built = hide_links(graphs, hard=False, examples=None, seed=0)
    trained = {tuple(pair) for pair in parts(built)[0, 1].tolist()}
    assert {tuple(edge) for edge in built.edge_index.T.tolist()} == trained
    assert {(v, u) for u, v in trained} == trained


def test_held_out_edges_depend_on_the_seed() -> None:
    _, graphs = blocks()
    first, again, other = (hide_links(graphs, hard=False, examples=None, seed=s).content_hash for s in (0, 0, 1))
    assert first == again != other


def test_too_few_negatives_raise() -> None:
    complete = nx.complete_graph(12).to_directed()
    ends = np.array([*complete.edges()]).T
    graphs = GraphSet.build([12], [ends.shape[1]], ends, {"y": Column(np.zeros(12, int), "node", types=1)})
    with pytest.raises(GraphTrialError, match="only 0 of"):
        hide_links(graphs, hard=False, examples=None, seed=0)


@pytest.fixture
def cora(mirror: Path) -> Dataset:
    return load("cora+links")


def test_link_dataset_names_are_parsed(cora: Dataset) -> None:
    assert cora.name == "cora+links"
    assert cora.splits[0].sizes == (2 * 4488, 2 * 263, 2 * 527)
    assert cora.graphs.num_edges == 2 * 4488
    assert DATASETS.get("cora+links") is DATASETS.get("cora+links")
    few = load("cora+links-hard-1000")
    assert few.splits[0].sizes == (2000, 526, 1054)
    assert few.graphs.size["pair"] == 2000 + 526 + 1054 + 2000
    for wrong in ("zinc+links", "cora+links-soft", "nothing+links", "cora+links-0"):
        with pytest.raises(UnknownNameError):
            DATASETS.get(wrong)
