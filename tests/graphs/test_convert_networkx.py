"""Conversion to and from NetworkX: every kind of graph, and the same edges as PyG's conversion."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.strategies import Graph, build, graph_lists
from torch_geometric.utils import from_networkx as pyg_from_networkx

from graphtrial.core.errors import InvalidGraphError
from graphtrial.graphs import Column, from_networkx, to_networkx, to_pyg


def attributed(kind: type[nx.Graph], graph: Graph) -> Any:
    nx_graph = kind(y=len(graph[1]))
    for node in range(graph[0]):
        nx_graph.add_node(f"node {node}", charge=node, mass=node / 2)
    for number, (u, v) in enumerate(graph[1]):
        nx_graph.add_edge(f"node {u}", f"node {v}", length=number)
    return nx_graph


@pytest.mark.slow
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@given(given=graph_lists(min_size=1, max_size=3))
def test_networkx_graph_types_are_converted(kind: type[nx.Graph], given: list[Graph]) -> None:
    items = [attributed(kind, graph) for graph in given]
    graphs = from_networkx(items, node_features=["charge", "mass"], edge_features=["length"], target="y")
    first = 0
    for i, item in enumerate(items):
        number = {node: position for position, node in enumerate(item)}
        expected = [(number[u], number[v], values["length"]) for u, v, values in item.edges(data=True)]
        if not item.is_directed():
            expected += [(v, u, length) for u, v, length in expected if u != v]
        rows = slice(int(graphs.edge_ptr[i]), int(graphs.edge_ptr[i + 1]))
        lengths = graphs.column("edge_attr").values[rows].reshape(-1).tolist()
        actual = list(zip(*graphs.edge_index[:, rows].tolist(), lengths, strict=True))
        assert sorted(actual) == sorted(expected)
        nodes = graphs.column("x").values[first : first + len(item)].tolist()
        assert nodes == [[values["charge"], values["mass"]] for _, values in item.nodes(data=True)]
        first += len(item)
        assert graphs.column("y").values[i] == item.graph["y"]


@given(graph_lists(min_size=1))
def test_networkx_round_trip(given: list[Graph]) -> None:
    graphs = build(given).with_column("charge", Column(np.arange(sum(n for n, _ in given)), "node"))
    items = [to_networkx(graphs, i) for i in range(len(graphs))]
    back = from_networkx(items, node_features=["charge"], edge_features=["edge_attr"], target="y")
    assert all(np.array_equal(back.structure[name], graphs.structure[name]) for name in graphs.structure)
    assert back.column("edge_attr").values.reshape(-1).tolist() == graphs.column("edge_attr").values.tolist()
    assert back.column("x").values.reshape(-1).tolist() == graphs.column("charge").values.tolist()
    assert back.column("y").values.tolist() == graphs.column("y").values.tolist()


@pytest.mark.parametrize(
    "nx_graph", [nx.karate_club_graph(), nx.barbell_graph(4, 2), nx.gnp_random_graph(12, 0.3, 1, True)]
)
def test_networkx_edges_match_pyg(nx_graph: nx.Graph) -> None:
    plain = nx.DiGraph(nx_graph) if nx_graph.is_directed() else nx.Graph(nx_graph)
    theirs = pyg_from_networkx(nx.create_empty_copy(plain, with_data=False)).num_nodes
    ours = from_networkx([plain])
    edges = pyg_from_networkx(plain).edge_index
    assert ours.num_nodes == theirs
    assert sorted(zip(*ours.edge_index.tolist(), strict=True)) == sorted(zip(*edges.tolist(), strict=True))


def test_missing_networkx_attributes_are_named() -> None:
    nx_graph = nx.path_graph(2)
    with pytest.raises(InvalidGraphError, match="a node has no attribute 'charge'; it has none"):
        from_networkx([nx_graph], node_features=["charge"])
    nx.set_edge_attributes(nx_graph, 1.0, "length")
    with pytest.raises(InvalidGraphError, match="an edge has no attribute 'width'; it has length"):
        from_networkx([nx_graph], edge_features=["width"])
    with pytest.raises(InvalidGraphError, match="a graph has no attribute 'label'"):
        from_networkx([nx_graph], target="label")
    nx.set_node_attributes(nx_graph, {0: [1], 1: [1, 2]}, "charge")
    with pytest.raises(InvalidGraphError, match="the rows of a column differ in shape"):
        from_networkx([nx_graph], node_features=["charge"])
    nx.set_node_attributes(nx_graph, "C", "atom")
    with pytest.raises(InvalidGraphError, match="column 'x' has dtype <U1"):
        from_networkx([nx_graph], node_features=["atom"])


def test_empty_list_gives_an_empty_set() -> None:
    assert len(from_networkx([])) == 0
    assert to_pyg(from_networkx([])) == []


@pytest.mark.parametrize("graph", [2, -1])
def test_out_of_range_graph_index_raises(graph: int) -> None:
    with pytest.raises(InvalidGraphError, match=f"graph index {graph} is out of range: the set has 2 graphs"):
        to_networkx(build([(1, []), (2, [])]), graph)


@given(st.integers(0, 3))
def test_single_graph_of_a_set_is_converted(graph: int) -> None:
    given = [(1, []), (3, [(0, 1), (0, 1), (2, 2)]), (0, []), (2, [(1, 0)])]
    nx_graph = to_networkx(build(given), graph)
    nodes, edges = given[graph]
    assert (len(nx_graph), sorted(nx_graph.edges())) == (nodes, sorted(edges))
    assert nx_graph.graph["y"] == 10 * graph
