"""Random-walk probabilities of pairs and edges against powers of dense matrices."""

from __future__ import annotations

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest
import torch
from tests.helpers.samples import DEGENERATE, EDGE_TYPES, NODE_TYPES, graph_set, random_graphs, whole

from graphtrial.core.errors import GraphTrialError
from graphtrial.encodings.random_walk import RandomWalkPE
from graphtrial.encodings.rrwp import RRWP
from graphtrial.graphs import GraphBatch, GraphSet, from_networkx
from graphtrial.graphs.pairs import edge_walks, layout, pair_layout, pair_walks, walks
from graphtrial.graphs.pairs.complete import complete_graph
from graphtrial.nn import Shapes, build_model

SETS: dict[str, GraphSet] = {
    "degenerate": graph_set(DEGENERATE),
    "random": graph_set(random_graphs(30, seed=0, max_nodes=20)),
    "larger": from_networkx([nx.gnp_random_graph(n, 0.1, seed=n) for n in (9, 31, 64, 65, 90)]),
    "no graphs": graph_set([]),
}
every_set = pytest.mark.parametrize("graphs", SETS.values(), ids=SETS)


def powers(graphs: GraphSet, graph: int, k: int) -> npt.NDArray[np.float64]:
    """The powers 0 to k - 1 of the walk of one graph, [n, n, k]."""
    nodes = int(graphs.node_counts[graph])
    walk = np.zeros((nodes, nodes))
    for source, target in graphs.edge_index[:, graphs.edge_ptr[graph] : graphs.edge_ptr[graph + 1]].T:
        walk[source, target] += 1
    walk /= np.maximum(walk.sum(axis=1, keepdims=True), 1)
    return np.stack([np.linalg.matrix_power(walk, step) for step in range(k)], axis=2)


@every_set
@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("transposed", [False, True])
def test_pair_walks_match_dense_matrix_powers(graphs: GraphSet, k: int, transposed: bool) -> None:
    batch = whole(graphs)
    ours = np.split(pair_walks(batch, k, transposed=transposed).numpy(), pair_layout(batch).ptr.numpy()[1:-1])
    for graph in range(len(graphs)):
        expected = powers(graphs, graph, k)
        expected = expected.transpose(1, 0, 2) if transposed else expected
        np.testing.assert_allclose(ours[graph], expected.reshape(-1, k), atol=1e-6)


@every_set
def test_edge_walks_match_pair_walks(graphs: GraphSet) -> None:
    k = 5
    ours = np.split(edge_walks(whole(graphs), k).numpy(), graphs.edge_ptr[1:-1])
    for graph in range(len(graphs)):
        source, target = graphs.edge_index[:, graphs.edge_ptr[graph] : graphs.edge_ptr[graph + 1]]
        np.testing.assert_allclose(ours[graph], powers(graphs, graph, k + 1)[source, target, 1:], atol=1e-6)


@every_set
def test_diagonal_matches_the_node_encoding(graphs: GraphSet) -> None:
    batch = whole(graphs)
    source, target = pair_layout(batch).index
    np.testing.assert_allclose(pair_walks(batch, 6)[source == target].numpy(), RRWP(6).compute(graphs), atol=1e-6)
    loops = batch.edge_index[0] == batch.edge_index[1]
    own = torch.from_numpy(RandomWalkPE(4).compute(graphs))[batch.edge_index[0][loops]]
    torch.testing.assert_close(edge_walks(batch, 4)[loops], own, atol=1e-6, rtol=0)


@every_set
def test_values_are_bit_exact_in_any_batch(graphs: GraphSet) -> None:
    batch = whole(graphs)
    pairs = pair_walks(batch, 6).split((batch.ptr.diff() ** 2).tolist())
    edges = edge_walks(batch, 6).split(graphs.edge_counts.tolist())
    for graph in range(len(graphs)):
        for others in ([graph], [graph, 0, graph]):
            small = GraphBatch.from_set(graphs, others)
            assert torch.equal(pair_walks(small, 6)[: len(pairs[graph])], pairs[graph])
            assert torch.equal(edge_walks(small, 6)[: len(edges[graph])], edges[graph])


def test_chunked_computation_is_bit_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    for graphs in SETS.values():
        batched = pair_walks(whole(graphs), 4), edge_walks(whole(graphs), 4)
        with monkeypatch.context() as patch:
            patch.setattr(walks, "CELLS", 300)
            assert torch.equal(pair_walks(whole(graphs), 4), batched[0])
            assert torch.equal(edge_walks(whole(graphs), 4), batched[1])


def test_values_are_computed_once_for_a_batch() -> None:
    batch = whole(SETS["random"])
    assert pair_walks(batch, 3) is pair_walks(batch.with_column("z", torch.zeros(batch.num_nodes)), 3)
    assert pair_walks(batch, 3) is not pair_walks(batch, 3, transposed=True)
    assert edge_walks(batch, 3) is edge_walks(batch, 3)


def test_too_many_pairs_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walks, "MOST_NUMBERS", 100)
    with pytest.raises(GraphTrialError, match="use a smaller batch"):
        pair_walks(whole(SETS["random"]), 3)
    monkeypatch.setattr(layout, "MOST_PAIRS", 100)
    with pytest.raises(GraphTrialError, match="ordered pairs of nodes, more than 100"):
        edge_walks(whole(SETS["random"]), 3)


def test_pairs_beyond_the_free_memory_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "SMALL", 0)
    monkeypatch.setattr(layout, "available_bytes", lambda: 100)
    for compute in (pair_layout, complete_graph):
        with pytest.raises(MemoryError, match=r"ordered pairs of nodes take .* are free: use a smaller batch"):
            compute(whole(SETS["random"]))


@pytest.mark.parametrize("name", ["grit", "san", "san-gps", "graphormer", "graphormer-gps", "graphit-lspe", "san-lspe"])
def test_models_on_pairs_name_what_does_not_fit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MOST_PAIRS", 100)
    shapes = Shapes(2, "graph", NODE_TYPES, 0, EDGE_TYPES, degree_histogram=(1, 1))
    model = build_model(name, shapes, {"width": 16, "layers": 1})
    with pytest.raises(GraphTrialError, match="ordered pairs of nodes, more than 100"):
        model(whole(SETS["random"]))


def test_pairs_are_listed_graph_by_graph_and_row_by_row() -> None:
    batch = whole(graph_set([(2, [(0, 1)]), (0, []), (3, [(2, 1), (2, 1)])]))
    pairs = pair_layout(batch)
    expected = [(0, 0), (0, 1), (1, 0), (1, 1), *((i, j) for i in (2, 3, 4) for j in (2, 3, 4))]
    assert [tuple(pair) for pair in pairs.index.T.tolist()] == expected
    assert torch.equal(pairs.index[:, pairs.edges], batch.edge_index)
    assert pairs.adjacency().tolist() == [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]


@pytest.mark.parametrize("name", ["san", "san-gps", "graphormer", "graphormer-gps", "graphit-lspe", "san-lspe"])
def test_attention_counts_what_all_layers_keep_in_training(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "SMALL", 0)
    shapes = Shapes(2, "graph", NODE_TYPES, 0, EDGE_TYPES)
    model = build_model(name, shapes, {"width": 16, "layers": 8, "heads": 8})
    batch = whole(SETS["random"])
    pairs = int((batch.ptr.diff() ** 2).sum())
    monkeypatch.setattr(layout, "available_bytes", lambda: 700 * pairs)
    with pytest.raises(MemoryError, match="in this model"):
        model(batch)
    with torch.no_grad():
        model(batch)
