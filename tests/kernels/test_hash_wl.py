"""The hash graph kernel, against bins and dictionaries made by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.helpers.samples import random_graphs

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import Column, GraphSet
from graphtrial.kernels.hash_wl import HashWeisfeilerLehman
from graphtrial.kernels.structure import Structure
from graphtrial.kernels.wl import WeisfeilerLehman


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    built = random_graphs(12, seed=3, undirected=True)
    rng = np.random.default_rng(0)
    nodes, ends = [n for n, _ in built], [edge for _, edges in built for edge in edges]
    columns = {
        "node_attributes": Column(rng.normal(size=(sum(nodes), 3)) * [1, 100, 0.01] + 5, "node"),
        "node_label": Column(rng.integers(0, 2, sum(nodes)), "node", types=2),
    }
    return GraphSet.build(nodes, [len(edges) for _, edges in built], np.array(ends).T, columns)


def test_hash_graph_kernel_is_the_mean_over_bins(graphs: GraphSet) -> None:
    kernel = HashWeisfeilerLehman(h=2, repetitions=4, width=0.7, seed=5, normalise=False)
    x = graphs.column("node_attributes").values
    scaled = (x - x.mean(axis=0)) / x.std(axis=0)
    rng = np.random.Generator(np.random.PCG64(5))
    expected = np.zeros((len(graphs), len(graphs)))
    for _ in range(4):
        direction, offset = rng.standard_normal(3), rng.random()
        bins = [int(np.floor((row @ direction) / 0.7 + offset)) for row in scaled]
        counters = []
        for number in range(len(graphs)):
            first, last = graphs.node_ptr[number], graphs.node_ptr[number + 1]
            one = graphs.subset([number])
            labels = one.column("node_label").values
            colour: list[object] = [(int(labels[i]), bins[first + i]) for i in range(last - first)]
            counter: Counter = Counter((0, c) for c in colour)
            for step in (1, 2):
                near: list[list[str]] = [[] for _ in colour]
                for u, v in one.edge_index.T:
                    near[v].append(repr(colour[u]))
                colour = [(c, tuple(sorted(near[i]))) for i, c in enumerate(colour)]
                counter.update((step, c) for c in colour)
            counters.append(counter)
        expected += np.array([[sum(a[key] * b[key] for key in a) for b in counters] for a in counters]) / 4
    np.testing.assert_allclose(kernel.fit_transform(graphs), expected)


def test_seed_determines_hashes_of_fitted_and_new_graphs(graphs: GraphSet) -> None:
    first, again, other = (HashWeisfeilerLehman(seed=seed).fit_transform(graphs) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-3
    kernel = HashWeisfeilerLehman(seed=1)
    batched = kernel.fit_transform(graphs)
    np.testing.assert_allclose(kernel.transform(graphs[3:7]), batched[3:7], atol=1e-12)


def test_constant_attributes_give_the_subtree_kernel(graphs: GraphSet) -> None:
    alike = graphs.with_column("node_attributes", Column(np.ones((graphs.num_nodes, 2)), "node"))
    expected = WeisfeilerLehman(h=2).fit_transform(graphs)
    np.testing.assert_allclose(HashWeisfeilerLehman(h=2).fit_transform(alike), expected)
    wide = HashWeisfeilerLehman(h=2, width=1e-9, node_labels=False).fit_transform(graphs)
    np.testing.assert_allclose(wide, np.eye(len(graphs)), atol=1e-12)  # no two nodes are alike


def test_degree_features_are_not_labels(graphs: GraphSet) -> None:
    plain = GraphSet(graphs.structure, {})
    degree = plain.with_column("x", Column(np.asarray(plain.in_degree), "node", types=64))
    assert not Structure.of(degree).node_label.any()
    shifted = plain.with_column("x", Column(np.asarray(plain.in_degree) + 1, "node", types=64))
    assert Structure.of(shifted).node_label.any()


def test_invalid_attributes_and_settings_raise(graphs: GraphSet) -> None:
    narrow = graphs.with_column("node_attributes", Column(np.ones((graphs.num_nodes, 2)), "node"))
    with pytest.raises(GraphTrialError, match="3 attributes and those of the other 2"):
        HashWeisfeilerLehman().fit(graphs).transform(narrow)
    with pytest.raises(GraphTrialError, match="repetitions of HashWeisfeilerLehman must be an integer from 1"):
        HashWeisfeilerLehman(repetitions=0).fit(graphs)
