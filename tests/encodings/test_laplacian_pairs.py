"""Laplacian eigenpairs against NumPy and PyG."""

from __future__ import annotations

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest
import torch
from tests.helpers.samples import DEGENERATE, graph_set, plain_graphs, random_graphs
from torch_geometric.transforms import AddLaplacianEigenvectorPE
from torch_geometric.utils import get_laplacian

from graphtrial.core.errors import GraphTrialError
from graphtrial.encodings import sparse_eigenvectors, spectrum
from graphtrial.encodings.equivariant_laplacian import EquivariantLaplacian
from graphtrial.encodings.laplacian import LaplacianPE
from graphtrial.encodings.laplacian_pairs import LaplacianPairs
from graphtrial.encodings.spectrum import Normalization
from graphtrial.graphs import GraphSet, from_networkx, to_pyg

SETS: dict[str, GraphSet] = {
    "degenerate": graph_set(DEGENERATE),
    "random": graph_set(random_graphs(20, seed=0)),
    "plain": from_networkx(plain_graphs(5, seed=0)),
    "in parts": from_networkx([nx.disjoint_union(nx.cycle_graph(4), nx.path_graph(5)), nx.empty_graph(3)]),
}
normalizations = pytest.mark.parametrize("normalization", ["sym", "none"])


def laplacian(graphs: GraphSet, graph: int, normalization: str) -> npt.NDArray[np.float64]:
    """The Laplacian, entry by entry."""
    nodes = int(graphs.node_counts[graph])
    links = np.zeros((nodes, nodes))
    for source, target in graphs.edge_index[:, graphs.edge_ptr[graph] : graphs.edge_ptr[graph + 1]].T:
        links[source, target] += 0.5
        links[target, source] += 0.5
    degree = links.sum(axis=1)
    if normalization == "none":
        return np.diag(degree) - links
    scale = np.maximum(degree, 1) ** -0.5
    return np.eye(nodes) - scale[:, None] * links * scale


@normalizations
@pytest.mark.parametrize("name", SETS)
def test_columns_are_the_smallest_eigenpairs_and_nan_where_there_are_none(
    name: str, normalization: Normalization
) -> None:
    graphs, k = SETS[name], 6
    batched = np.split(LaplacianPairs(k, normalization).compute(graphs), graphs.node_ptr[1:-1])
    for graph, ours in enumerate(batched):
        matrix = laplacian(graphs, graph, normalization)
        nodes = len(matrix)
        vectors, values = ours[:, : min(k, nodes)], ours[:, k : k + min(k, nodes)]
        assert np.isnan(ours[:, nodes:k]).all()
        assert np.isnan(ours[:, k + nodes :]).all()
        if not nodes:
            continue
        expected = np.maximum(np.linalg.eigvalsh(matrix)[:k], 0)
        np.testing.assert_allclose(values, np.tile(expected, (nodes, 1)), atol=1e-6)
        np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-5)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(vectors.shape[1]), atol=1e-5)


@normalizations
def test_eigenvalues_match_the_laplacian_of_pyg(normalization: Normalization) -> None:
    graphs = SETS["plain"]
    batched = np.split(LaplacianPairs(4, normalization).compute(graphs), graphs.node_ptr[1:-1])
    for item, ours in zip(to_pyg(graphs), batched, strict=True):
        kind = None if normalization == "none" else normalization
        edges, weights = get_laplacian(item.edge_index, normalization=kind, num_nodes=item.num_nodes)
        dense = torch.zeros(item.num_nodes, item.num_nodes).index_put((edges[0], edges[1]), weights, accumulate=True)
        np.testing.assert_allclose(ours[0, 4:], np.linalg.eigvalsh(dense.double().numpy())[:4], atol=1e-5)


def test_eigenvectors_after_the_trivial_one_match_pyg() -> None:
    graphs = SETS["plain"]
    transform = AddLaplacianEigenvectorPE(3, attr_name="position", is_undirected=True)
    batched = np.split(EquivariantLaplacian(4).compute(graphs), graphs.node_ptr[1:-1])
    for item, ours in zip(to_pyg(graphs), batched, strict=True):
        np.testing.assert_allclose(np.abs(ours[:, 1:]), np.abs(transform(item).position.numpy()), atol=1e-4)


@normalizations
def test_equivariant_encoding_has_the_same_vectors_zero_padded(normalization: Normalization) -> None:
    for graphs in SETS.values():
        pairs = LaplacianPairs(5, normalization).compute(graphs)
        np.testing.assert_array_equal(
            EquivariantLaplacian(5, normalization).compute(graphs), np.nan_to_num(pairs[:, :5], nan=0)
        )


def test_training_flips_eigenvectors_and_never_eigenvalues() -> None:
    graphs, k = SETS["random"], 5
    values = torch.from_numpy(LaplacianPairs(k).compute(graphs))
    seen = set()
    for seed in range(8):
        view = LaplacianPairs(k).training_view(values, torch.Generator().manual_seed(seed))
        torch.testing.assert_close(view[:, k:], values[:, k:], rtol=0, atol=0, equal_nan=True)
        signs = [bool(torch.nansum(view[:, column] * values[:, column]) > 0) for column in range(k)]
        flips = torch.tensor(signs) * 2.0 - 1
        torch.testing.assert_close(view[:, :k], values[:, :k] * flips, rtol=0, atol=0, equal_nan=True)
        seen.add(tuple(signs))
    assert len(seen) > 2
    assert LaplacianPairs(k, sign="fixed").training_view(values, torch.Generator()) is values
    assert EquivariantLaplacian(2 * k).training_view(values, torch.Generator()) is values
    nodes = values.nan_to_num()
    assert not torch.equal(
        EquivariantLaplacian(2 * k, sign="random").training_view(nodes, torch.Generator().manual_seed(0)), nodes
    )


def test_large_graphs_have_the_same_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = from_networkx([nx.random_geometric_graph(90, 0.2, seed=1), nx.random_regular_graph(3, 120, seed=2)])
    dense = LaplacianPairs(6).compute(graphs)
    monkeypatch.setattr(spectrum, "DENSE_NODES", 50)
    monkeypatch.setattr(sparse_eigenvectors, "DENSE_NODES", 50)
    sparse = LaplacianPairs(6).compute(graphs)
    np.testing.assert_allclose(sparse[:, 6:], dense[:, 6:], atol=1e-5)
    np.testing.assert_allclose(np.abs(sparse[90:, :6]), np.abs(dense[90:, :6]), atol=1e-4)


def test_graph_too_large_for_all_eigenvectors_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spectrum, "MOST_DENSE_NODES", 5)
    with pytest.raises(GraphTrialError, match="graphs of up to 5 nodes; the largest has 9"):
        LaplacianPairs(3, "none").compute(SETS["in parts"])


def test_plain_encoding_has_the_vectors_after_the_trivial_one() -> None:
    graphs = SETS["plain"]
    np.testing.assert_array_equal(LaplacianPE(4).compute(graphs), EquivariantLaplacian(5).compute(graphs)[:, 1:])


@pytest.mark.parametrize("name", SETS)
def test_rows_are_scaled_as_in_san(name: str) -> None:
    """Each node's entries, one after the other; eigenvalues and missing columns stay as they are."""
    graphs, k = SETS[name], 6
    plain, scaled = LaplacianPairs(k).compute(graphs), LaplacianPairs(k, scale="rows").compute(graphs)
    for before, after in zip(plain, scaled, strict=True):
        length = sum(value**2 for value in before[:k].tolist() if value == value) ** 0.5
        expected = [value / max(length, 1e-12) for value in before[:k].tolist()]
        np.testing.assert_allclose(after[:k], expected, rtol=1e-5, atol=1e-7)
        np.testing.assert_array_equal(after[k:], before[k:])
    assert LaplacianPairs(k).cache_key() != LaplacianPairs(k, scale="rows").cache_key()
    assert "scale" not in LaplacianPairs(k).cache_key()  # cached values of earlier releases stay valid
