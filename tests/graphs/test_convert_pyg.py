"""Conversion to and from PyG: round trips, levels of columns, labels of every shape."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from tests.helpers.strategies import Graph, build, graph_lists
from torch_geometric.data import Data

from graphtrial.core.errors import InvalidGraphError
from graphtrial.graphs import GraphSet, from_pyg, to_pyg


def same(one: GraphSet, two: GraphSet) -> bool:
    """Whether structure and numbers are equal; meanings, types and integer dtypes may differ."""
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
def test_pyg_round_trip(given: list[Graph]) -> None:
    # A last graph whose counts of nodes, edges and graphs differ, so that levels can be told by length alone.
    graphs = build([*given, (5, [(0, 0), (0, 0), (4, 1)])])
    assert same(from_pyg(to_pyg(graphs)), graphs)


@given(graph_lists(min_size=1))
def test_pyg_graphs_become_the_set_of_their_edges(given: list[Graph]) -> None:
    items = [Data(edge_index=torch.tensor(e, dtype=torch.long).reshape(-1, 2).T, num_nodes=n) for n, e in given]
    graphs = build(given)
    bare = GraphSet(graphs.structure, {})
    assert same(from_pyg(items), bare)


def test_edge_features_are_edge_level_if_node_and_edge_counts_are_equal() -> None:
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
def test_graph_labels_are_converted(label: torch.Tensor, shape: tuple[int, ...]) -> None:
    graphs = from_pyg(
        [Data(x=torch.ones(5, 1), edge_index=torch.zeros(2, 7, dtype=torch.long), y=label) for _ in range(2)]
    )
    assert (graphs.column("y").level, graphs.column("y").values.shape) == ("graph", shape)


def test_node_labels_are_converted() -> None:
    def item(nodes: int) -> Data:
        return Data(edge_index=torch.zeros(2, 0, dtype=torch.long), num_nodes=nodes, y=torch.arange(nodes))

    assert from_pyg([item(1), item(4)]).column("y").level == "node"
    assert from_pyg([item(1), item(1)]).column("y").level == "graph"


def test_integers_become_categories() -> None:
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
def test_inconsistent_pyg_graphs_raise(items: list[Data], message: str) -> None:
    with pytest.raises(InvalidGraphError) as caught:
        from_pyg(items)
    assert message in str(caught.value)


@pytest.mark.parametrize("shapes", [[(2,), (3,)], [(1,), (2,)], [(1, 2), (1, 3)], [(), (2,)], [(2,), ()]])
def test_inconsistent_label_shapes_raise(shapes: list[tuple[int, ...]]) -> None:
    items = [Data(edge_index=torch.zeros(2, 0, dtype=torch.long), num_nodes=9, y=torch.ones(shape)) for shape in shapes]
    with pytest.raises(InvalidGraphError, match="'y' has different shapes in different graphs"):
        from_pyg(items)
