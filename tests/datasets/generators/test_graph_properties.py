"""Six targets against NetworkX, and the whole of GraphTheoryProp against its description."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.generators import properties
from graphtrial.datasets.generators.graph_theory import AS_PUBLISHED, CORRECTED, Quirks, draw, graph_theory_graphs
from graphtrial.datasets.graph_theory import PARTS, SIZES
from graphtrial.graphs import GraphSet, to_networkx

SOME = ([(15, 30), (17, 30)], [(15, 10)], [(16, 10)])


@pytest.fixture(scope="module", params=[CORRECTED, AS_PUBLISHED], ids=["sound", "as published"])
def quirks(request: pytest.FixtureRequest) -> Quirks:
    return request.param


@pytest.fixture(scope="module")
def graphs(quirks: Quirks) -> GraphSet:
    return graph_theory_graphs(SOME, 1234, quirks)


def undirected(graphs: GraphSet, graph: int) -> nx.Graph:
    return nx.Graph(to_networkx(graphs, graph).to_undirected())


def rows(graphs: GraphSet, name: str, graph: int) -> np.ndarray:
    return graphs.column(name).values[graphs.node_ptr[graph] : graphs.node_ptr[graph + 1]]


def expected_of(graph: nx.Graph, source: int, value: np.ndarray, quirks: Quirks) -> tuple[np.ndarray, np.ndarray]:
    distance = dict(nx.all_pairs_shortest_path_length(graph))
    connected = nx.is_connected(graph)
    if quirks.bipartite:
        matrix = nx.to_numpy_array(graph, nodelist=range(len(graph)))
        connected = bool((np.linalg.matrix_power(matrix, 64) > 0).all())
    nodes = np.stack(
        [
            [distance[source].get(node, 0) for node in range(len(graph))],
            [max(distance[node].values()) for node in range(len(graph))],
            nx.laplacian_matrix(graph, nodelist=range(len(graph))).toarray() @ value,
        ],
        axis=1,
    )
    radius = np.abs(np.linalg.eigvalsh(nx.to_numpy_array(graph))).max()
    return nodes, np.array([connected, nodes[:, 1].max(), radius])


def test_targets_match_networkx(graphs: GraphSet, quirks: Quirks) -> None:
    actual = []
    for graph in range(len(graphs)):
        x = rows(graphs, "x", graph).astype(np.float64)
        assert x[:, 0].sum() == 1
        actual.append(expected_of(undirected(graphs, graph), int(x[:, 0].argmax()), x[:, 1], quirks))
    training = len(SOME[0]) * 30
    node_scale = np.concatenate([nodes for nodes, _ in actual[:training]]).max(axis=0)
    graph_scale = np.stack([targets for _, targets in actual[:training]]).max(axis=0)
    for graph, (nodes, targets) in enumerate(actual):
        np.testing.assert_allclose(rows(graphs, "node_y", graph), nodes / node_scale, atol=2e-6)
        np.testing.assert_allclose(graphs.column("y").values[graph], targets / graph_scale, atol=2e-6)
    assert len(np.unique(graphs.column("y").values[:, 0])) == 2
    assert graphs.column("node_y").values[: int(graphs.node_ptr[training])].max(axis=0).tolist() == [1, 1, 1]


def test_no_node_is_isolated(graphs: GraphSet) -> None:
    assert graphs.in_degree.min() >= 1


def test_properties_of_degenerate_graphs_match_networkx() -> None:
    built = [
        nx.cycle_graph(6),
        nx.cycle_graph(5),
        nx.disjoint_union(nx.path_graph(4), nx.path_graph(2)),
        nx.star_graph(5),
    ]
    built[1].add_node(5)
    joined = np.stack([nx.to_numpy_array(graph) > 0 for graph in built])
    distance = properties.distances(joined)
    assert properties.is_connected(distance).tolist() == [True, False, False, True]
    assert properties.diameter(distance).tolist() == [3, 2, 3, 2]
    assert properties.has_odd_cycle(joined, distance).tolist()[0] is False
    assert properties.has_odd_cycle(joined, distance).tolist()[3] is False
    assert properties.spectral_radius(joined)[3] == pytest.approx(np.sqrt(5), abs=1e-6)
    assert distance[2, 0].tolist() == [0, 1, 2, 3, -1, -1]


def test_sizes_match_the_published_ones() -> None:
    assert tuple(sum(count for _, count in part) for part in PARTS) == SIZES
    assert [(part[0][0], part[-1][0]) for part in PARTS] == [(15, 24), (15, 19), (15, 19)]


def test_generation_is_deterministic_for_a_seed() -> None:
    one, other = draw(18, 99, "lobster", CORRECTED)[0], draw(18, 99, "lobster", CORRECTED)[0]
    assert (one.adjacency == other.adjacency).all()
    assert one.value.tolist() == other.value.tolist()
    assert one.source == other.source


def test_graphs_of_two_nodes_raise() -> None:
    with pytest.raises(GraphTrialError, match="3 nodes"):
        graph_theory_graphs([[(2, 5)]], 0, CORRECTED)
