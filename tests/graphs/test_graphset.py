"""Building, sorting, validation, subsets and content hash of `GraphSet`."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.strategies import Graph, build, graph_lists, random_graphs

from graphtrial.core.errors import InvalidGraphError, UnknownNameError
from graphtrial.graphs import Column, GraphSet


def path_of_three() -> GraphSet:
    return GraphSet.build([3], [2], [[0, 1], [1, 2]], {"x": Column(np.zeros((3, 2)), "node")})


@given(graph_lists())
def test_edges_are_sorted_by_target_then_source_and_keep_their_features(given: list[Graph]) -> None:
    graphs = build(given)
    first = np.cumsum([0, *(len(edges) for _, edges in given)])
    expected = [
        (u, v, first[graph] + position)
        for graph, (_, edges) in enumerate(given)
        for position, (u, v) in sorted(enumerate(edges), key=lambda item: (item[1][1], item[1][0]))
    ]
    actual = zip(*graphs.edge_index.tolist(), graphs.column("edge_attr").values.tolist(), strict=True)
    assert list(actual) == expected
    assert graphs.node_counts.tolist() == [n for n, _ in given]
    assert graphs.edge_counts.tolist() == [len(edges) for _, edges in given]
    assert (len(graphs), graphs.num_nodes, graphs.num_edges) == (len(given), sum(n for n, _ in given), len(expected))


@given(graph_lists())
def test_degrees_and_out_order_against_networkx(given: list[Graph]) -> None:
    graphs = build(given)
    in_degree, out_degree, by_source = [], [], []
    for graph, (nodes, edges) in enumerate(given):
        reference = nx.MultiDiGraph()
        reference.add_nodes_from(range(nodes))
        reference.add_edges_from(edges)
        in_degree += [degree for _, degree in reference.in_degree()]
        out_degree += [degree for _, degree in reference.out_degree()]
        rows = slice(graphs.edge_ptr[graph], graphs.edge_ptr[graph + 1])
        own = graphs.edge_index[:, rows]
        by_source += own[:, graphs.out_order[rows]].T.tolist()
        assert sorted(graphs.out_order[rows].tolist()) == list(range(len(edges)))
    assert graphs.in_degree.tolist() == in_degree
    assert graphs.out_degree.tolist() == out_degree
    assert by_source == [list(edge) for _, edges in given for edge in sorted(edges)]


@given(graph_lists(), st.data())
def test_subset_matches_set_of_selected_graphs(given: list[Graph], data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, len(given) - 1), max_size=6) if given else st.just([]))
    chosen = build(given).subset(ids)
    direct = build([given[i] for i in ids])
    for name, array in direct.structure.items():
        assert np.array_equal(chosen.structure[name], array)
        assert chosen.structure[name].dtype == array.dtype
    assert chosen.column("y").values.tolist() == [10 * i for i in ids]
    assert chosen.column("y").meaning == "ten times the graph index"


@given(graph_lists(), st.randoms(use_true_random=False))
def test_content_hash_does_not_depend_on_the_order_of_edges(given: list[Graph], random: object) -> None:
    simple = [(nodes, sorted(set(edges))) for nodes, edges in given]
    shuffled = [(nodes, list(edges)) for nodes, edges in simple]
    for _, edges in shuffled:
        random.shuffle(edges)  # type: ignore[attr-defined]
    one, two = (build(graphs) for graphs in (simple, shuffled))
    del one.columns["edge_attr"], two.columns["edge_attr"]
    assert one.content_hash == two.content_hash


def test_content_hash_detects_every_change() -> None:
    def column(**changes: object) -> Column:
        return Column(
            **{"values": np.array([0, 1, 1], np.int64), "level": "node", "meaning": "atom", "types": 2, **changes}
        )

    changed = [
        ([3], [2], [[0, 1], [1, 2]], {"x": column()}),
        ([3], [2], [[0, 0], [1, 2]], {"x": column()}),
        ([4], [2], [[0, 1], [1, 2]], {}),
        ([3], [2], [[0, 1], [1, 2]], {"z": column()}),
        ([3], [2], [[0, 1], [1, 2]], {"x": column(values=np.array([0, 1, 0]))}),
        ([3], [2], [[0, 1], [1, 2]], {"x": column(values=np.array([0, 1, 1], np.int32))}),
        ([3], [2], [[0, 1], [1, 2]], {"x": column(values=np.array([[0], [1], [1]]))}),
        ([3], [2], [[0, 1], [1, 2]], {"x": column(meaning="bond")}),
        ([3], [2], [[0, 1], [1, 2]], {"x": column(types=3)}),
        ([1, 2], [0, 1], [[0], [1]], {}),
    ]
    hashes = [GraphSet.build(*arguments).content_hash for arguments in changed]
    assert len(set(hashes)) == len(hashes)
    # On every machine and in every version: prepared data and trials are known by it.
    assert hashes[0] == "ee7037eac6bdfe6e8264ac3a2d035efebe4cad7417f8ceb31a0782a3de2fbf83"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[3]], [0], np.zeros((2, 0))), "node_counts must be a flat list of integers, not shape (1, 1)"),
        (([1.5], [0], np.zeros((2, 0))), "node_counts must be a flat list of integers, not shape (1,) of float64"),
        (([3], ["x"], np.zeros((2, 0))), "edge_counts must be a flat list of integers"),
        (([3, -1], [0, 0], np.zeros((2, 0))), "node_counts has a negative entry for graph 1"),
        (([3, 1], [-2, 0], np.zeros((2, 0))), "edge_counts has a negative entry for graph 0"),
        (([3, 1], [0], np.zeros((2, 0))), "2 node counts but 1 edge counts were given"),
        (([3], [2], [[0], [1]]), "edge_index has shape (2, 1), but edge_counts sum to 2"),
        (([3], [2], [0, 1]), "edge_index has shape (2,), but edge_counts sum to 2"),
        (([3], [2], [[0, 1], [1]]), "edge_index is not an array of integers"),
        (([3], [1], [[0.0], [1.0]]), "edge_index has dtype float64; integers are needed"),
        (([3], [1], [[True], [False]]), "edge_index has dtype bool; integers are needed"),
        (([3], [1], [["a"], ["b"]]), "integers are needed"),
        (([2, 3], [0, 1], [[0], [3]]), "graph 1 has 3 nodes, but an edge 0 -> 3"),
        (([2, 3], [1, 0], [[2], [0]]), "graph 0 has 2 nodes, but an edge 2 -> 0"),
        (([2], [1], [[-1], [0]]), "graph 0 has 2 nodes, but an edge -1 -> 0"),
        (([0], [1], [[0], [0]]), "graph 0 has 0 nodes, but an edge 0 -> 0"),
    ],
)
def test_inconsistent_sizes_and_edges_raise(arguments: tuple, message: str) -> None:
    with pytest.raises(InvalidGraphError) as caught:
        GraphSet.build(*arguments)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "values", "level", "types", "message"),
    [
        ("x", np.zeros(2), "node", None, "column 'x' has shape (2,), but the set has 3 nodes"),
        ("x", np.zeros(3), "edge", None, "column 'x' has shape (3,), but the set has 2 edges"),
        ("y", np.zeros((2, 1)), "graph", None, "column 'y' has shape (2, 1), but the set has 1 graphs"),
        ("y", np.float32(1), "graph", None, "column 'y' has shape (), but the set has 1 graphs"),
        ("e", np.float32(1), "edge", None, "column 'e' has shape (), but the set has 2 edges"),
        ("x", np.zeros(3), "atom", None, "column 'x' has level 'atom'; levels are node, edge, graph"),
        ("x", np.array(["C", "N", "O"]), "node", None, "column 'x' has dtype <U1; use bool, integer or float"),
        ("x", np.array([None, 1, 2]), "node", None, "column 'x' has dtype object; use bool, integer or float"),
        ("x", np.zeros(3, complex), "node", None, "column 'x' has dtype complex128; use bool, integer or float"),
        ("x", np.zeros(3, np.longdouble), "node", None, "use bool, integer or float of at most 64 bits"),
        ("x", np.zeros(3, ">f4"), "node", None, "in native byte order"),
        ("x", np.array([0, np.nan, 1]), "node", None, "column 'x' is not finite in node 1"),
        ("x", np.array([[0, 1], [0, 1], [np.inf, 0]]), "node", None, "column 'x' is not finite in node 2"),
        ("y", np.array([-np.inf]), "graph", None, "column 'y' is not finite in graph 0"),
        ("x", np.array([0, 1, 2]), "node", 2, "column 'x' has 2 types, but values from 0 to 2"),
        ("x", np.array([0, -1, 1]), "node", 2, "column 'x' has 2 types, but values from -1 to 1"),
        ("x", np.array([0.0, 0.5, 1.0]), "node", 2, "column 'x' has 2 types, but dtype float64"),
        ("../x", np.zeros(3), "node", None, "'../x' cannot name a column: use lower-case letters, digits and '_'"),
        ("X", np.zeros(3), "node", None, "'X' cannot name a column"),
        ("", np.zeros(3), "node", None, "'' cannot name a column"),
        ("batch", np.zeros(3), "node", None, "'batch' cannot name a column: every batch has that attribute already"),
        ("num_nodes", np.zeros(3), "node", None, "'num_nodes' cannot name a column"),
    ],
)
def test_inconsistent_columns_raise(name: str, values: object, level: str, types: int | None, message: str) -> None:
    column = Column(values, level, types=types)  # type: ignore[arg-type]
    for attempt in (
        lambda: GraphSet.build([3], [2], [[0, 1], [1, 2]], {name: column}),
        lambda: path_of_three().with_column(name, column),
    ):
        with pytest.raises(InvalidGraphError) as caught:
            attempt()
        assert message in str(caught.value)


def test_column_values_may_be_lists_or_tensors() -> None:
    for values in ([1, 2, 3], torch.tensor([1, 2, 3])):
        graphs = path_of_three().with_column("z", Column(values, "node"))  # type: ignore[arg-type]
        assert graphs.column("z").values.tolist() == [1, 2, 3]
    with pytest.raises(InvalidGraphError, match="the rows of a column differ in shape"):
        Column([[1], [1, 2]], "node")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([3], "graph index 3 is out of range: the set has 3 graphs, with indices 0 to 2"),
        ([0, -1], "graph index -1 is out of range"),
        ([0.5], "graph indices must be integers, not float64"),
        ([True, False, True], "graph indices must be integers, not bool"),
        ([[0, 1]], "must be a flat list"),
        (1, "must be a flat list"),
    ],
)
def test_out_of_range_graph_index_raises(ids: object, message: str) -> None:
    with pytest.raises(InvalidGraphError) as caught:
        build(random_graphs(3, seed=0)).subset(ids)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_indexing_an_empty_set_raises() -> None:
    with pytest.raises(InvalidGraphError, match="the set has no graphs"):
        build([]).subset([0])


def test_unknown_column_suggests_the_nearest() -> None:
    with pytest.raises(
        UnknownNameError, match=r"no column 'edge_atr'\. Did you mean 'edge_attr'\? This set has: x, edge"
    ):
        build([(1, [])]).column("edge_atr")


def test_with_column_does_not_modify_the_set() -> None:
    old = path_of_three()
    new = old.with_column("x", Column(np.ones(3, bool), "node"))
    assert new.edge_index is old.edge_index
    assert (old.column("x").width, new.column("x").width) == (2, 1)
    assert repr(new) == "GraphSet(1 graphs, 3 nodes, 2 edges; x (node))"


def test_counts_use_the_smallest_dtype() -> None:
    assert {array.dtype for array in path_of_three().structure.values()} == {np.dtype(np.int32)}
