"""Kernels in pipelines and grid searches, and equal to GraKeL's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from graphtrial.graphs import Column, GraphSet
from graphtrial.kernels import KERNELS
from graphtrial.kernels.shortest_path import ShortestPath
from graphtrial.kernels.wl import WeisfeilerLehman


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    """Sparse and dense graphs: easy to tell apart."""
    rng = np.random.default_rng(0)
    nodes, counts, ends, y = [], [], [], []
    for number in range(60):
        size, dense = int(rng.integers(6, 12)), number % 2
        upper = np.argwhere(np.triu(rng.random((size, size)) < (0.6 if dense else 0.25), 1))
        nodes.append(size)
        counts.append(2 * len(upper))
        ends.append(np.concatenate([upper, upper[:, ::-1]]))
        y.append(dense)
    columns = {"node_label": Column(rng.integers(0, 3, sum(nodes)), "node", types=3), "y": Column(np.array(y), "graph")}
    return GraphSet.build(nodes, counts, np.concatenate(ends).T, columns)


def test_graph_set_supports_array_indexing(graphs: GraphSet) -> None:
    assert graphs.shape == (60,)
    mask = np.arange(60) % 7 == 0
    expected = graphs.subset(np.flatnonzero(mask)).content_hash
    assert (
        graphs[mask].content_hash == graphs[::7].content_hash == graphs[np.flatnonzero(mask)].content_hash == expected
    )
    assert len(graphs[3]) == 1


@pytest.mark.parametrize("name", KERNELS.names())
def test_every_kernel_can_be_cloned_and_has_parameters(name: str) -> None:
    kernel = KERNELS.get(name)(normalise=False)
    assert clone(kernel).get_params() == kernel.get_params()
    assert kernel.get_params()["normalise"] is False


def test_grid_search_selects_iterations_and_c(graphs: GraphSet) -> None:
    y = graphs.column("y").values
    pipeline = make_pipeline(WeisfeilerLehman(node_labels=False), SVC(kernel="precomputed"))
    search = GridSearchCV(pipeline, {"weisfeilerlehman__h": [0, 1], "svc__C": [0.1, 10.0]}, cv=3)
    search.fit(graphs, y)
    assert search.best_score_ > 0.8
    assert search.predict(graphs).shape == (60,)
    linear = make_pipeline(WeisfeilerLehman(h=2, node_labels=False, output="features"), LinearSVC())
    assert cross_val_score(linear, graphs, y, cv=3).mean() > 0.8


def as_grakel(graphs: GraphSet) -> list:
    """Edge and label dictionaries, as GraKeL wants them."""
    built = []
    for number in range(len(graphs)):
        one = graphs.subset([number])
        edges = {(int(u), int(v)): 1.0 for u, v in one.edge_index.T}
        built.append([edges, {node: int(label) for node, label in enumerate(one.column("node_label").values)}])
    return built


@pytest.mark.parametrize("h", [1, 3])
def test_refinement_matches_grakel(graphs: GraphSet, h: int) -> None:
    grakel = pytest.importorskip("grakel", reason="GraKeL is not installed")
    theirs = grakel.WeisfeilerLehman(n_iter=h, base_graph_kernel=grakel.VertexHistogram, normalize=True)
    ours = WeisfeilerLehman(h=h).fit_transform(graphs)
    np.testing.assert_allclose(ours, theirs.fit_transform(as_grakel(graphs)), atol=1e-12)


def test_shortest_paths_match_grakel(graphs: GraphSet) -> None:
    grakel = pytest.importorskip("grakel", reason="GraKeL is not installed")
    theirs = grakel.ShortestPath(normalize=True).fit_transform(as_grakel(graphs))
    np.testing.assert_allclose(ShortestPath().fit_transform(graphs), theirs, atol=1e-12)
