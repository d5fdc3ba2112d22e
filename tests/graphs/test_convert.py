"""Graphs survive the way to PyG and NetworkX and back."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.strategies import Graph, build, graph_lists
from torch_geometric.data import Data
from torch_geometric.utils import from_networkx as pyg_from_networkx

from graphtrial.core.errors import InvalidGraphError
from graphtrial.graphs import Column, GraphSet, from_networkx, from_pyg, to_networkx, to_pyg


def same(one: GraphSet, two: GraphSet) -> bool:
    """Whether structure and numbers are equal; meanings, types and widths of integers may differ."""
    return all(np.array_equal(one.structure[name], two.structure[name]) for name in one.structure) and all(
        np.array_equal(one.column(name).values, two.column(name).values)
        and one.column(name).level == two.column(name).level
        for name in {*one.columns, *two.columns}
    )


def ring(nodes: int) -> Data:
    """A directed ring: as many edges as nodes."""
    source = torch.arange(nodes).flip(0)
    return Data(edge_index=torch.stack([source, (source + 1) % nodes]), num_nodes=nodes)


@given(graph_lists(min_size=1))
def test_a_set_survives_pyg(given: list[Graph]) -> None:
    # A last graph whose counts of nodes, edges and graphs differ, so that levels can be told by length alone.
    graphs = build([*given, (5, [(0, 0), (0, 0), (4, 1)])])
    assert same(from_pyg(to_pyg(graphs)), graphs)


@given(graph_lists(min_size=1))
def test_pyg_graphs_become_the_set_of_their_edges(given: list[Graph]) -> None:
    items = [Data(edge_index=torch.tensor(e, dtype=torch.long).reshape(-1, 2).T, num_nodes=n) for n, e in given]
    graphs = build(given)
    bare = GraphSet(graphs.structure, {})
    assert same(from_pyg(items), bare)


def test_edge_features_stay_with_the_edges_where_there_are_as_many_edges_as_nodes() -> None:
    items = [ring(4), ring(6)]
    for item in items:
        item.edge_attr = item.edge_index[0] * 100 + item.edge_index[1]
        item.x = torch.arange(item.num_nodes)
    graphs = from_pyg(items)
    assert (graphs.column("edge_attr").level, graphs.column("x").level) == ("edge", "node")
    assert graphs.column("edge_attr").values.tolist() == (graphs.edge_index[0] * 100 + graphs.edge_index[1]).tolist()


@pytest.mark.parametrize(
    ("label", "shape"),
    [
        (torch.tensor(3), (2,)),
        (torch.tensor([3]), (2,)),
        (torch.tensor([[1.0, 2.0]]), (2, 2)),
        (torch.tensor([1.0, 2.0, 3.0]), (2, 3)),
    ],
)
def test_labels_of_graphs(label: torch.Tensor, shape: tuple[int, ...]) -> None:
    graphs = from_pyg(
        [Data(x=torch.ones(5, 1), edge_index=torch.zeros(2, 7, dtype=torch.long), y=label) for _ in range(2)]
    )
    assert (graphs.column("y").level, graphs.column("y").values.shape) == ("graph", shape)


def test_labels_of_nodes_and_of_single_nodes() -> None:
    def item(nodes: int) -> Data:
        return Data(edge_index=torch.zeros(2, 0, dtype=torch.long), num_nodes=nodes, y=torch.arange(nodes))

    assert from_pyg([item(1), item(4)]).column("y").level == "node"
    assert from_pyg([item(1), item(1)]).column("y").level == "graph"


def test_whole_numbers_become_categories_and_the_rest_stays_what_it_is() -> None:
    item = ring(4)
    item.x = torch.tensor([0, 5, 1, 2])
    item.edge_attr = torch.tensor([0.5, 1, 2, 3])
    item.known_mask = torch.tensor([True, False, True, True])
    item.z = torch.tensor([0, 5, 1, 2])
    item.name = "not a tensor"
    graphs = from_pyg([item])
    assert {name: c.types for name, c in graphs.columns.items()} == {
        **{"x": 6, "edge_attr": None, "known_mask": None, "z": None},
    }
    back = to_pyg(graphs)[0]
    assert (back.known_mask.dtype, back.x.dtype, back.edge_attr.dtype) == (torch.bool, torch.int64, torch.float32)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([], "no graphs were given"),
        ([ring(3), Data(x=torch.ones(2, 1))], "graph 1 has no edge_index"),
        (
            [Data(edge_index=torch.zeros(2, 1, dtype=torch.long), num_nodes=1, y=torch.ones(1)), ring(3)],
            "'y' is in the first",
        ),
        ([Data(edge_index=torch.tensor([[0], [4]]), num_nodes=2)], "graph 0 has 2 nodes, but an edge 0 -> 4"),
    ],
)
def test_pyg_graphs_that_cannot_be_a_set(items: list[Data], message: str) -> None:
    with pytest.raises(InvalidGraphError) as caught:
        from_pyg(items)
    assert message in str(caught.value)


@pytest.mark.parametrize("shapes", [[(2,), (3,)], [(1,), (2,)], [(1, 2), (1, 3)], [(), (2,)], [(2,), ()]])
def test_labels_of_different_shapes(shapes: list[tuple[int, ...]]) -> None:
    items = [Data(edge_index=torch.zeros(2, 0, dtype=torch.long), num_nodes=9, y=torch.ones(shape)) for shape in shapes]
    with pytest.raises(InvalidGraphError, match="'y' has different shapes in different graphs"):
        from_pyg(items)


def attributed(kind: type[nx.Graph], graph: Graph) -> Any:
    made = kind(y=len(graph[1]))
    for node in range(graph[0]):
        made.add_node(f"node {node}", charge=node, mass=node / 2)
    for number, (u, v) in enumerate(graph[1]):
        made.add_edge(f"node {u}", f"node {v}", length=number)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@given(given=graph_lists(min_size=1, max_size=3))
def test_networkx_graphs_of_every_kind(kind: type[nx.Graph], given: list[Graph]) -> None:
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
        found = list(zip(*graphs.edge_index[:, rows].tolist(), lengths, strict=True))
        assert sorted(found) == sorted(expected)
        nodes = graphs.column("x").values[first : first + len(item)].tolist()
        assert nodes == [[values["charge"], values["mass"]] for _, values in item.nodes(data=True)]
        first += len(item)
        assert graphs.column("y").values[i] == item.graph["y"]


@given(graph_lists(min_size=1))
def test_a_set_survives_networkx(given: list[Graph]) -> None:
    graphs = build(given).with_column("charge", Column(np.arange(sum(n for n, _ in given)), "node"))
    items = [to_networkx(graphs, i) for i in range(len(graphs))]
    back = from_networkx(items, node_features=["charge"], edge_features=["edge_attr"], target="y")
    assert same(GraphSet(back.structure, {}), GraphSet(graphs.structure, {}))
    assert back.column("edge_attr").values.reshape(-1).tolist() == graphs.column("edge_attr").values.tolist()
    assert back.column("x").values.reshape(-1).tolist() == graphs.column("charge").values.tolist()
    assert back.column("y").values.tolist() == graphs.column("y").values.tolist()


@pytest.mark.parametrize(
    "made", [nx.karate_club_graph(), nx.barbell_graph(4, 2), nx.gnp_random_graph(12, 0.3, 1, True)]
)
def test_the_same_edges_as_pyg_makes_of_them(made: nx.Graph) -> None:
    plain = nx.DiGraph(made) if made.is_directed() else nx.Graph(made)
    theirs = pyg_from_networkx(nx.create_empty_copy(plain, with_data=False)).num_nodes
    ours = from_networkx([plain])
    edges = pyg_from_networkx(plain).edge_index
    assert ours.num_nodes == theirs
    assert sorted(zip(*ours.edge_index.tolist(), strict=True)) == sorted(zip(*edges.tolist(), strict=True))


def test_networkx_graphs_say_what_they_lack() -> None:
    made = nx.path_graph(2)
    with pytest.raises(InvalidGraphError, match="a node has no attribute 'charge'; it has none"):
        from_networkx([made], node_features=["charge"])
    nx.set_edge_attributes(made, 1.0, "length")
    with pytest.raises(InvalidGraphError, match="an edge has no attribute 'width'; it has length"):
        from_networkx([made], edge_features=["width"])
    with pytest.raises(InvalidGraphError, match="a graph has no attribute 'label'"):
        from_networkx([made], target="label")
    nx.set_node_attributes(made, {0: [1], 1: [1, 2]}, "charge")
    with pytest.raises(InvalidGraphError, match="the rows of a column differ in shape"):
        from_networkx([made], node_features=["charge"])
    nx.set_node_attributes(made, "C", "atom")
    with pytest.raises(InvalidGraphError, match="column 'x' has dtype <U1"):
        from_networkx([made], node_features=["atom"])


def test_no_networkx_graphs_are_an_empty_set() -> None:
    assert len(from_networkx([])) == 0
    assert to_pyg(from_networkx([])) == []


@pytest.mark.parametrize("graph", [2, -1])
def test_a_graph_that_is_not_in_the_set(graph: int) -> None:
    with pytest.raises(InvalidGraphError, match=f"graph {graph} was asked for, but the set has 2 graphs"):
        to_networkx(build([(1, []), (2, [])]), graph)


@given(st.integers(0, 3))
def test_one_graph_of_many_is_converted_alone(graph: int) -> None:
    given = [(1, []), (3, [(0, 1), (0, 1), (2, 2)]), (0, []), (2, [(1, 0)])]
    made = to_networkx(build(given), graph)
    nodes, edges = given[graph]
    assert (len(made), sorted(made.edges())) == (nodes, sorted(edges))
    assert made.graph["y"] == 10 * graph
