"""`GraphBatch` against PyG's `Batch` and SciPy's CSR and CSC matrices."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.helpers.strategies import Graph, build, graph_lists, random_graphs
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GINEConv, global_add_pool, global_max_pool, global_mean_pool
from torch_geometric.nn.models import GAT, GCN, GIN

from graphtrial.core.errors import InvalidGraphError
from graphtrial.graphs import Column, GraphBatch, GraphSet, storage, to_pyg


def pyg_batch(given: list[Graph], ids: list[int]) -> Batch:
    """The same graphs as PyG collates them, with the edges in the order given."""
    first_node = np.cumsum([0, *(nodes for nodes, _ in given)])
    first_edge = np.cumsum([0, *(len(edges) for _, edges in given)])
    items = []
    for i in ids:
        nodes, edges = given[i]
        number = torch.arange(first_node[i], first_node[i] + nodes)
        items.append(
            Data(
                x=torch.stack([number.float(), torch.from_numpy(np.sin(number.numpy()).astype(np.float32))], dim=1),
                edge_index=torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T,
                edge_attr=torch.arange(first_edge[i], first_edge[i + 1]),
                y=torch.tensor([10 * i]),
                num_nodes=nodes,
            )
        )
    return Batch.from_data_list(items)


@given(graph_lists(min_size=1), st.data())
def test_batch_matches_pyg(given: list[Graph], data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, len(given) - 1), min_size=1, max_size=6))
    ours, theirs = GraphBatch.from_set(build(given), ids), pyg_batch(given, ids)
    for name in ("x", "y", "batch", "ptr"):
        assert torch.equal(column_as(ours, name), theirs[name])
        assert column_as(ours, name).dtype == theirs[name].dtype
    assert (ours.num_graphs, ours.num_nodes, ours.num_edges) == (theirs.num_graphs, theirs.num_nodes, theirs.num_edges)
    # The same edges with the same features, sorted by (target, source).
    place = np.lexsort((theirs.edge_index[0], theirs.edge_index[1]))
    assert torch.equal(ours.edge_index, theirs.edge_index[:, place])
    assert torch.equal(ours.edge_attr, theirs.edge_attr[place])


def column_as(batch: GraphBatch, name: str) -> torch.Tensor:
    value = getattr(batch, name)
    assert isinstance(value, torch.Tensor)
    return value


@given(graph_lists(min_size=1), st.data())
def test_batch_of_the_set_matches_batch_of_converted_graphs(given: list[Graph], data: st.DataObject) -> None:
    graphs = build(given)
    ids = data.draw(st.lists(st.integers(0, len(given) - 1), min_size=1, max_size=6))
    items = to_pyg(graphs)
    theirs = Batch.from_data_list([items[i] for i in ids])
    ours = GraphBatch.from_set(graphs, ids)
    for name in ("x", "edge_index", "edge_attr", "y", "batch", "ptr"):
        assert torch.equal(column_as(ours, name), theirs[name])


@given(graph_lists(min_size=1))
def test_pointers_equal_the_sparse_matrices_of_scipy(given: list[Graph]) -> None:
    simple = [(nodes, sorted(set(edges), reverse=True)) for nodes, edges in given]  # scipy adds parallel edges up
    batch = GraphBatch.from_set(build(simple), range(len(simple)))
    source, target = batch.edge_index.numpy()
    shape = (batch.num_nodes, batch.num_nodes)
    matrix = sparse.coo_array((np.arange(batch.num_edges) + 1, (source, target)), shape)
    by_target, by_source = matrix.tocsc(), matrix.tocsr()
    by_target.sort_indices()
    by_source.sort_indices()
    assert np.array_equal(batch.in_ptr, by_target.indptr)
    assert np.array_equal(source, by_target.indices)
    assert np.array_equal(batch.out_ptr, by_source.indptr)
    assert np.array_equal(target[batch.out_order.numpy()], by_source.indices)
    assert np.array_equal(batch.out_order, by_source.data - 1)


@given(graph_lists(min_size=1), st.data())
def test_in_and_out_edges_of_every_node_with_parallel_edges(given: list[Graph], data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, len(given) - 1), min_size=1, max_size=6))
    batch = GraphBatch.from_set(build(given), ids)
    source, target = batch.edge_index.tolist()
    for node in range(batch.num_nodes):
        incoming = range(int(batch.in_ptr[node]), int(batch.in_ptr[node + 1]))
        outgoing = batch.out_order[batch.out_ptr[node] : batch.out_ptr[node + 1]].tolist()
        assert list(incoming) == [edge for edge in range(batch.num_edges) if target[edge] == node]
        assert sorted(outgoing) == [edge for edge in range(batch.num_edges) if source[edge] == node]
        assert int(batch.in_degree[node]) == len(incoming)
        assert int(batch.out_degree[node]) == len(outgoing)
    assert batch.in_ptr[-1] == batch.out_ptr[-1] == batch.num_edges


@pytest.mark.parametrize("model_class", [GIN, GCN, GAT])
def test_unmodified_pyg_model_runs_on_a_batch(model_class: type[nn.Module]) -> None:
    given = random_graphs(15, seed=2)
    ids = [3, 0, 14, 7, 7]
    torch.manual_seed(0)
    model = model_class(in_channels=2, hidden_channels=8, num_layers=3, out_channels=4).eval()
    ours, theirs = GraphBatch.from_set(build(given), ids), pyg_batch(given, ids)
    torch.testing.assert_close(model(ours.x, ours.edge_index), model(theirs.x, theirs.edge_index), rtol=1e-4, atol=1e-4)


def test_pyg_layers_with_edge_features_and_pooling_run_on_a_batch() -> None:
    given = random_graphs(15, seed=3)
    ids = list(range(15))
    torch.manual_seed(0)
    layer = GINEConv(nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 3)), edge_dim=1)
    graphs, theirs = build(given), pyg_batch(given, ids)
    scaled = graphs.column("edge_attr").values[:, None].astype(np.float32) / 50
    ours = GraphBatch.from_set(graphs.with_column("edge_attr", Column(scaled, "edge")), ids)
    assert ours.edge_attr is not None
    mine = layer(ours.x, ours.edge_index, ours.edge_attr)
    other = layer(theirs.x, theirs.edge_index, theirs.edge_attr[:, None].float() / 50)
    torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-4)
    for pool in (global_add_pool, global_mean_pool, global_max_pool):
        pooled = pool(mine, ours.batch, ours.num_graphs)
        torch.testing.assert_close(pooled, pool(other, theirs.batch, theirs.num_graphs), rtol=1e-4, atol=1e-4)


def test_batch_dtypes_are_those_of_torch() -> None:
    columns = {
        "half": Column(np.ones(2, np.float16), "node"),
        "single": Column(np.ones(2, np.float32), "node"),
        "double": Column(np.ones(2, np.float64), "node"),
        "small": Column(np.ones(2, np.uint8), "node"),
        "truth": Column(np.ones(2, bool), "node"),
    }
    batch = GraphBatch.from_set(GraphSet.build([2], [1], [[0], [1]], columns), [0])
    assert {name: value.dtype for name, value in batch.columns.items()} == {
        "half": torch.float32,
        "single": torch.float32,
        "double": torch.float64,
        "small": torch.int64,
        "truth": torch.bool,
    }
    assert {value.dtype for value in batch._structure.values()} == {torch.int64}


def test_columns_are_attributes() -> None:
    batch = GraphBatch.from_set(build([(2, [(0, 1)])]), [0])
    assert (batch.x is not None, batch.edge_attr.tolist() if batch.edge_attr is not None else None) == (True, [0])
    more = batch.with_column("pos", torch.ones(2, 3))
    assert torch.equal(more.pos, torch.ones(2, 3))
    with pytest.raises(AttributeError, match="has no 'pos'; its columns are x, edge_attr, y"):
        _ = batch.pos
    assert repr(batch) == "GraphBatch(1 graphs, 2 nodes, 1 edges; x=[2, 2], edge_attr=[1], y=[1])"
    bare = GraphBatch.from_set(GraphSet.build([2], [1], [[0], [1]]), [0])
    assert (bare.x, bare.edge_attr, bare.y) == (None, None, None)


def test_batch_can_be_copied_moved_and_sent_to_another_process() -> None:
    batch = GraphBatch.from_set(build(random_graphs(3, seed=4)), [2, 0])
    for other in (copy.copy(batch), copy.deepcopy(batch), pickle.loads(pickle.dumps(batch)), batch.to("cpu")):  # noqa: S301
        assert repr(other) == repr(batch)
        assert torch.equal(other.edge_index, batch.edge_index)
        assert torch.equal(other.in_ptr, batch.in_ptr)


def test_batch_does_not_share_memory_with_the_set() -> None:
    graphs = build([(2, [(0, 1)])])
    batch = GraphBatch.from_set(graphs, [0])
    for value in (*batch.columns.values(), *batch._structure.values()):
        value.zero_()
    assert graphs.content_hash == build([(2, [(0, 1)])]).content_hash


def test_column_names_cannot_shadow_batch_attributes() -> None:
    batch = GraphBatch.from_set(build([(2, [(0, 1)])]), [0])
    assert {name for name in dir(batch) if not name.startswith("_")} - {"x", "edge_attr", "y"} == storage.RESERVED


def test_empty_batch_is_supported() -> None:
    batch = GraphBatch.from_set(build([(2, [(0, 1)])]), [])
    assert (batch.num_graphs, batch.num_nodes, batch.num_edges) == (0, 0, 0)
    assert (batch.edge_index.shape, batch.ptr.tolist(), batch.in_ptr.tolist()) == ((2, 0), [0], [0])


@pytest.mark.parametrize("ids", [[1], [-1], [0.0], 0, [True]])
def test_out_of_range_graph_index_raises(ids: object) -> None:
    with pytest.raises(InvalidGraphError, match="graph ind"):
        GraphBatch.from_set(build([(2, [(0, 1)])]), ids)  # type: ignore[arg-type]
