"""CSL against NetworkX and the published files."""

from __future__ import annotations

import itertools
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from graphtrial.datasets import load
from graphtrial.datasets.csl import SKIPS
from graphtrial.graphs import to_networkx
from graphtrial.io.pickles.reader import load as unpickle


def undirected(graph: int) -> nx.Graph:
    return nx.Graph(to_networkx(load("csl").graphs, graph).to_undirected())


def test_graphs_are_circulants_of_their_class() -> None:
    graphs = load("csl").graphs
    assert (graphs.edge_counts == 164).all()
    assert graphs.column("y").values.tolist() == np.repeat(np.arange(10), 15).tolist()
    for graph in range(0, 150, 5):
        assert nx.is_isomorphic(undirected(graph), nx.circulant_graph(41, [1, SKIPS[graph // 15]]))


@pytest.mark.slow
def test_classes_are_pairwise_not_isomorphic() -> None:
    for one, other in itertools.combinations(range(0, 150, 15), 2):
        assert not nx.is_isomorphic(undirected(one), undirected(other))


def test_relabellings_differ() -> None:
    dataset = load("csl")
    edges = dataset.graphs.edge_index.reshape(2, 150, 164).transpose(1, 0, 2).reshape(150, -1)
    assert len(np.unique(edges, axis=0)) == 150


def test_content_hash_is_frozen() -> None:
    assert load("csl").hash == "e3d113009ffd5492ea69e5be7bd8eea5827c0cb1c67b757a9af893e20a5e3a85"


def test_folds_match_the_published_ones(mirror: Path) -> None:
    for part in ("train", "val", "test"):
        rows = (mirror / "CSL" / f"CSL_{part}.index").read_text().split()
        for split, row in zip(load("csl").splits, rows, strict=True):
            assert split.parts[part].tolist() == sorted(int(number) for number in row.split(","))


def test_every_graph_is_tested_once() -> None:
    tested = np.concatenate([split.test for split in load("csl").splits])
    assert sorted(tested.tolist()) == list(range(150))


def test_published_graphs_are_isomorphic_to_ours(mirror: Path) -> None:
    matrices = unpickle(mirror / "CSL" / "graphs_Kary_Deterministic_Graphs.pkl")
    for graph in range(7, 150, 15):
        parts = matrices[graph].attributes
        published = nx.Graph(zip(parts["row"].tolist(), parts["col"].tolist(), strict=True))
        published.remove_edges_from(list(nx.selfloop_edges(published)))
        assert nx.is_isomorphic(published, undirected(graph))
