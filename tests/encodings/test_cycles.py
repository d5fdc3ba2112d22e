"""Cycle counts against NetworkX, closed forms and matrix powers."""

from __future__ import annotations

from math import comb, factorial

import networkx as nx
import numpy as np
import pytest
from tests.helpers.samples import DEGENERATE, graph_set, random_graphs

from graphtrial.core.errors import GraphTrialError
from graphtrial.encodings import cycles
from graphtrial.encodings.cycles import CycleCounts
from graphtrial.graphs import GraphSet, from_networkx, to_networkx


def counted(graph: nx.Graph, longest: int) -> np.ndarray:
    """The same by the enumeration of NetworkX."""
    simple = nx.Graph()
    simple.add_nodes_from(graph)
    simple.add_edges_from((u, v) for u, v in graph.edges() if u != v)
    out = np.zeros((len(simple), longest - 2))
    for cycle in nx.simple_cycles(simple, length_bound=longest):
        out[cycle, len(cycle) - 3] += 1
    return out


@pytest.mark.parametrize("longest", [3, 4, 8])
def test_counts_match_networkx(longest: int) -> None:
    sets: list[GraphSet] = [
        graph_set(DEGENERATE),
        graph_set(random_graphs(20, seed=1)),
        from_networkx([nx.gnp_random_graph(11, 0.3, seed=seed) for seed in range(6)]),
        from_networkx([nx.petersen_graph(), nx.circulant_graph(13, [1, 3]), nx.path_graph(6)]),
    ]
    for graphs in sets:
        batched = np.split(CycleCounts(longest).compute(graphs), graphs.node_ptr[1:-1])
        for graph in range(len(graphs)):
            np.testing.assert_array_equal(batched[graph], counted(to_networkx(graphs, graph), longest))


def test_counts_match_closed_forms_of_complete_graphs_and_rings() -> None:
    (complete,) = {tuple(row) for row in CycleCounts(8).compute(from_networkx([nx.complete_graph(8)]))}
    # n - 1 choose l - 1 others, in (l - 1)! / 2 orders
    assert complete == tuple(comb(7, length - 1) * factorial(length - 1) // 2 for length in range(3, 9))
    for size in range(3, 9):
        ring = CycleCounts(8).compute(from_networkx([nx.cycle_graph(size)]))
        np.testing.assert_array_equal(ring, np.tile(np.eye(6)[size - 3], (size, 1)))


def test_triangles_of_a_large_graph_are_half_the_closed_walks() -> None:
    graph = nx.random_geometric_graph(300, 0.1, seed=1)
    matrix = nx.to_numpy_array(graph)
    expected = np.linalg.matrix_power(matrix, 3).diagonal() / 2
    np.testing.assert_array_equal(CycleCounts(3).compute(from_networkx([graph]))[:, 0], expected)


def test_dense_graph_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycles, "MOST_STEPS", 1000)
    graphs = from_networkx([nx.path_graph(3), nx.complete_graph(12)])
    with pytest.raises(GraphTrialError, match=r"graph 1, with 12 nodes and 132 edges, has too many paths of up to 8"):
        CycleCounts(8).compute(graphs)
