"""The eigenvectors of large graphs against the dense decomposition."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy.linalg import eigvalsh

from graphtrial.encodings import laplacian, sparse_eigenvectors
from graphtrial.encodings.laplacian import LaplacianPE
from graphtrial.graphs import from_networkx

GRAPHS = {
    "random": nx.gnp_random_graph(150, 0.08, seed=1),
    "path, whose eigenvalues lie close together": nx.path_graph(700),
    "cycle, whose eigenvalues come in pairs": nx.cycle_graph(200),
    "square grid": nx.grid_2d_graph(12, 12),
    "star": nx.star_graph(100),
    "complete": nx.complete_graph(80),
    "tree": nx.balanced_tree(3, 4),
    "equal parts": nx.disjoint_union_all([nx.path_graph(60), nx.cycle_graph(90), nx.path_graph(60), nx.empty_graph(5)]),
    "more parts than vectors": nx.disjoint_union_all([*[nx.complete_graph(5)] * 12, nx.empty_graph(30)]),
    "nearly no edges": nx.disjoint_union(nx.path_graph(3), nx.empty_graph(90)),
    "no edges": nx.empty_graph(90),
}


@pytest.fixture(params=[20, 500], ids=["by iteration", "small parts dense"])
def _sparse(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplacian, "DENSE_NODES", 50)
    monkeypatch.setattr(sparse_eigenvectors, "DENSE_NODES", request.param)


def matrix_of(graph: nx.Graph) -> np.ndarray:
    adjacency = nx.to_numpy_array(graph)
    scale = 1 / np.sqrt(np.maximum(adjacency.sum(axis=0), 1))
    return np.eye(len(graph)) - scale[:, None] * adjacency * scale


@pytest.mark.slow
@pytest.mark.usefixtures("_sparse")
@pytest.mark.parametrize("name", GRAPHS)
def test_smallest_eigenvectors_with_multiplicity(name: str) -> None:
    k, matrix = 8, matrix_of(GRAPHS[name])
    vectors = LaplacianPE(k).compute(from_networkx([GRAPHS[name]])).astype(np.float64)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-6)
    values = np.einsum("nk,nm,mk->k", vectors, matrix, vectors)
    np.testing.assert_allclose(values, eigvalsh(matrix)[1 : k + 1], atol=1e-6)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-6)


@pytest.mark.slow
@pytest.mark.usefixtures("_sparse")
def test_trivial_vector_is_not_among_them() -> None:
    for graph in GRAPHS.values():
        vectors = LaplacianPE(8).compute(from_networkx([graph]))
        np.testing.assert_allclose(np.sqrt([degree for _, degree in graph.degree]) @ vectors, 0, atol=1e-5)


def test_vectors_match_the_dense_decomposition_where_these_are_unique(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = from_networkx([GRAPHS["random"]])
    dense = LaplacianPE(6).compute(graphs)
    monkeypatch.setattr(laplacian, "DENSE_NODES", 50)
    monkeypatch.setattr(sparse_eigenvectors, "DENSE_NODES", 50)
    np.testing.assert_allclose(LaplacianPE(6).compute(graphs), dense, atol=1e-6)


def test_components_are_sorted_by_size() -> None:
    degree = np.array([1.0, 1, 2, 2, 2, 0, 1, 1])
    component = np.array([0, 0, 1, 1, 1, 2, 3, 3], np.int32)
    vectors = sparse_eigenvectors.component_vectors(degree, component, 5)
    assert vectors.shape == (8, 2)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(np.sqrt(degree) @ vectors, 0, atol=1e-12)
    assert (vectors[component == 3, 0] == 0).all()  # the first sets component 0 apart from component 1
    assert (vectors[component == 0, 0] > 0).all()
    assert (vectors[component == 1, 0] < 0).all()
    assert (vectors[component == 2] == 0).all()


def test_decomposition_is_deterministic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplacian, "DENSE_NODES", 50)
    monkeypatch.setattr(sparse_eigenvectors, "DENSE_NODES", 20)
    graphs = from_networkx([GRAPHS["square grid"]])
    first = LaplacianPE(8).compute(graphs)
    np.random.seed(3)
    np.testing.assert_array_equal(LaplacianPE(8).compute(graphs), first)
