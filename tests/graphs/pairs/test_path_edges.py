"""Shortest paths and the edges on them, against all shortest paths of NetworkX."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import networkx as nx
import pytest
from tests.helpers.layers import DIRECTED
from tests.helpers.samples import Graph, batch_of

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs import path_edges as module
from graphtrial.graphs.pairs import shortest_path_distances

LONG: list[Graph] = [(9, [(i, i + 1) for i in range(8)] + [(0, 4), (4, 8), (8, 0)])]


def expected(graph: GraphBatch, hops: int) -> tuple[list[int], Counter[tuple[int, int, int]]]:
    """Distances of all pairs, and the fraction of shortest paths of (pair, hop, edge)."""
    distance: list[int] = []
    weights: Counter[tuple[int, int, int]] = Counter()
    for begin, end in zip(graph.ptr[:-1].tolist(), graph.ptr[1:].tolist(), strict=True):
        multi = nx.MultiDiGraph()
        multi.add_nodes_from(range(begin, end))
        ends = graph.edge_index.T.tolist()
        multi.add_edges_from((u, v, edge) for edge, (u, v) in enumerate(ends) if begin <= u < end)
        for i in range(begin, end):
            for j in range(begin, end):
                pair = len(distance)
                if not nx.has_path(multi, i, j):
                    distance.append(-1)
                    continue
                nodes = list(nx.all_shortest_paths(nx.DiGraph(multi), i, j))
                distance.append(len(nodes[0]) - 1)
                paths: list[tuple[int, ...]] = []
                for path in nodes:
                    ways: list[tuple[int, ...]] = [()]
                    for step in pairwise(path):
                        ways = [(*way, edge) for way in ways for edge in multi[step[0]][step[1]]]
                    paths += ways
                for way in paths:
                    for hop, edge in enumerate(way[:hops]):
                        weights[pair, hop, edge] += 1 / len(paths)
    return distance, weights


@pytest.mark.parametrize("chunk", [1, 1 << 22])
@pytest.mark.parametrize("given", [*DIRECTED.values(), LONG], ids=[*DIRECTED, "long"])
def test_distances_and_path_edges_match_networkx(
    given: list[Graph], chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK", chunk)
    graph = batch_of(given)
    for hops in (2, 19):
        paths = module.path_edges(graph, hops)
        distance, weights = expected(graph, hops)
        assert shortest_path_distances(graph).tolist() == distance
        entries = zip(*(values.tolist() for values in (paths.pair, paths.hop, paths.edge)), strict=True)
        actual = dict(zip(entries, paths.weight.tolist(), strict=True))
        assert len(actual) == len(paths.pair) == len(weights)
        assert actual == pytest.approx(dict(weights))


def test_empty_batch_is_supported() -> None:
    assert len(module.path_edges(batch_of([]), 3).pair) == 0
