"""Kernels against brute force, dictionaries and GraKeL, on degenerate graphs too."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.helpers.samples import Graph, symmetric

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import Column, GraphSet
from graphtrial.kernels import KERNELS, GraphKernel, gram
from graphtrial.kernels.graphlet import Graphlet
from graphtrial.kernels.random_walk import RandomWalk
from graphtrial.kernels.shortest_path import ShortestPath
from graphtrial.kernels.wl import WeisfeilerLehman
from graphtrial.kernels.wl_oa import WeisfeilerLehmanOptimalAssignment

patiently = settings(deadline=None, max_examples=40)
Labelled = list[tuple[Graph, list[int]]]


@st.composite
def graph_lists(draw: st.DrawFn, simple: bool = True) -> Labelled:
    """Undirected graphs with node labels from 0: isolated nodes, one-node graphs, and self-loops unless simple."""
    built = []
    for _ in range(draw(st.integers(1, 5))):
        nodes = draw(st.integers(1, 7))
        ends = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
        edges = {(min(u, v), max(u, v)) for u, v in draw(st.lists(ends, max_size=12)) if u != v or not simple}
        labels = draw(st.lists(st.integers(0, 2), min_size=nodes, max_size=nodes))
        built.append(((nodes, symmetric(sorted(edges))), labels))
    return built


def set_of(graphs: Labelled) -> GraphSet:
    ends = np.array([edge for (_, edges), _ in graphs for edge in edges], np.int64).reshape(-1, 2).T
    label = Column(np.array([label for _, labels in graphs for label in labels], np.int64), "node", types=3)
    sizes, counts = [n for (n, _), _ in graphs], [len(edges) for (_, edges), _ in graphs]
    edge_label = Column((ends[0] + ends[1]) % 2 if ends.size else np.zeros(0, np.int64), "edge", types=2)
    return GraphSet.build(sizes, counts, ends, {"node_label": label, "edge_label": edge_label})


def by_counters(counters: list[Counter]) -> np.ndarray:
    return np.array([[sum(a[key] * b[key] for key in a) for b in counters] for a in counters], float)


def dictionary_refinement(graphs: Labelled, h: int, *, edge_labels: bool) -> list[Counter]:
    """Counts of nested tuples: no colour is ever given a number."""
    built = []
    for (nodes, edges), labels in graphs:
        colour: list[object] = list(labels)
        counter: Counter = Counter((0, c) for c in colour)
        for step in range(1, h + 1):
            near: list[list] = [[] for _ in range(nodes)]
            for u, v in edges:
                near[v].append((repr(colour[u]), (u + v) % 2 if edge_labels else 0))
            colour = [(colour[v], tuple(sorted(near[v]))) for v in range(nodes)]
            counter.update((step, c) for c in colour)
        built.append(counter)
    return built


@patiently
@given(graph_lists(simple=False), st.integers(0, 4), st.booleans())
def test_refinement_matches_a_naive_implementation(graphs: Labelled, h: int, edge_labels: bool) -> None:
    expected = dictionary_refinement(graphs, h, edge_labels=edge_labels)
    plain = WeisfeilerLehman(h=h, edge_labels=edge_labels, normalise=False)
    np.testing.assert_array_equal(plain.fit_transform(set_of(graphs)), by_counters(expected))
    best = WeisfeilerLehmanOptimalAssignment(h=h, edge_labels=edge_labels, normalise=False)
    minima = [[sum((a & b).values()) for b in expected] for a in expected]
    np.testing.assert_array_equal(best.fit_transform(set_of(graphs)), minima)


@patiently
@given(graph_lists(simple=False), st.booleans())
def test_shortest_paths_match_networkx(graphs: Labelled, node_labels: bool) -> None:
    counters = []
    for (nodes, edges), labels in graphs:
        graph = nx.Graph(edges)
        graph.add_nodes_from(range(nodes))
        lengths = dict(nx.all_pairs_shortest_path_length(graph))
        shown = labels if node_labels else [0] * nodes
        counters.append(Counter((shown[u], shown[v], d) for u in lengths for v, d in lengths[u].items() if d))
    kernel = ShortestPath(node_labels=node_labels, normalise=False)
    np.testing.assert_array_equal(kernel.fit_transform(set_of(graphs)), by_counters(counters))


@patiently
@given(graph_lists(simple=False), st.booleans())
def test_graphlets_match_enumeration_of_triples(graphs: Labelled, node_labels: bool) -> None:
    counters = []
    for (nodes, edges), labels in graphs:
        joined = {(u, v) for u, v in edges if u != v}
        shown = labels if node_labels else [0] * nodes
        counter: Counter = Counter()
        for triple in combinations(range(nodes), 3):
            links = [pair for pair in combinations(triple, 2) if pair in joined]
            if len(links) == 3:
                counter[("triangle", *sorted(shown[node] for node in triple))] += 1
            if len(links) == 2:
                (middle,) = set(links[0]) & set(links[1])
                counter[("path", shown[middle], *sorted(shown[node] for node in triple if node != middle))] += 1
        counters.append(counter)
    kernel = Graphlet(node_labels=node_labels, normalise=False)
    np.testing.assert_array_equal(kernel.fit_transform(set_of(graphs)), by_counters(counters))


@patiently
@given(graph_lists(), st.integers(0, 3), st.booleans())
def test_random_walks_match_matrix_powers(graphs: Labelled, steps: int, node_labels: bool) -> None:
    counters = []
    for (nodes, edges), labels in graphs:
        matrix = np.zeros((nodes, nodes))
        for u, v in edges:
            matrix[u, v] = 1
        shown = labels if node_labels else [0] * nodes
        counter: Counter = Counter()
        for length in range(steps + 1):
            power = np.linalg.matrix_power(matrix, length)
            for u in range(nodes):
                for v in range(nodes):
                    counter[length, shown[u], shown[v]] += power[u, v] * 0.5 ** (length / 2)
        counters.append(counter)
    kernel = RandomWalk(steps=steps, damping=0.5, node_labels=node_labels, normalise=False)
    np.testing.assert_allclose(kernel.fit_transform(set_of(graphs)), by_counters(counters))


@pytest.mark.parametrize("scale", [1, 5000, 0.3])
def test_blocked_dot_products_are_exact(scale: float) -> None:
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((700, 60)) < np.linspace(0.001, 0.6, 60), rng.integers(1, 30, (700, 60)), 0.0) * scale
    one, other = sparse.csr_matrix(dense), sparse.csr_matrix(dense[:300])
    np.testing.assert_allclose(gram.dot_products(one, one), dense @ dense.T, rtol=1e-14)
    np.testing.assert_allclose(gram.dot_products(one, other), dense @ dense[:300].T, rtol=1e-14)
    if scale != 0.3:
        np.testing.assert_array_equal(gram.dot_products(one, one), dense @ dense.T)


@pytest.fixture(params=KERNELS.names())
def kernel(request: pytest.FixtureRequest) -> GraphKernel:
    return KERNELS.get(request.param)()


@pytest.mark.slow
@patiently
@given(graph_lists(simple=False), st.integers(0, 10**6))
def test_kernels_are_symmetric_psd_and_permutation_invariant(graphs: Labelled, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shuffled = []
    for (nodes, edges), labels in graphs:
        order = rng.permutation(nodes)
        place = np.argsort(order)
        shuffled.append(((nodes, [(int(place[u]), int(place[v])) for u, v in edges]), [labels[i] for i in order]))
    plain = set_of(graphs)
    without = GraphSet(plain.structure, {"node_label": plain.column("node_label")})
    other = GraphSet(set_of(shuffled).structure, {"node_label": set_of(shuffled).column("node_label")})
    for name in KERNELS:
        gram = KERNELS.get(name)().fit_transform(without)
        np.testing.assert_allclose(gram, gram.T, atol=1e-12)
        assert np.linalg.eigvalsh(gram).min() > -1e-9, name
        np.testing.assert_allclose(KERNELS.get(name)().fit_transform(other), gram, atol=1e-12)
        diagonal = np.diag(gram)
        assert np.all(np.isclose(diagonal, 1) | (diagonal == 0))


@pytest.mark.slow
@patiently
@given(graph_lists(simple=False), st.data())
def test_transform_matches_fit_transform(graphs: Labelled, data: st.DataObject) -> None:
    whole = set_of(graphs)
    fitted = data.draw(st.integers(1, len(graphs)))
    ids = np.arange(len(graphs))
    for name in KERNELS:
        kind = KERNELS.get(name)
        batched = kind().fit_transform(whole)
        kernel = kind().fit(whole.subset(ids[:fitted]))
        np.testing.assert_allclose(kernel.transform(whole), batched[:, :fitted], atol=1e-12)
        if kind.explicit:
            explicit = kind(output="features").fit(whole.subset(ids[:fitted]))
            features = explicit.transform(whole)
            assert sparse.issparse(features)
            np.testing.assert_allclose(
                (features @ explicit.transform(whole.subset(ids[:fitted])).T).toarray(),
                batched[:, :fitted],
                atol=1e-12,
            )


def test_invalid_arguments_are_named(kernel: GraphKernel) -> None:
    with pytest.raises(GraphTrialError, match="'gram' or 'features'"):
        kernel.set_params(output="matrix").fit(set_of([((1, []), [0])]))
    with pytest.raises(GraphTrialError, match="of a GraphSet, not of a list"):
        kernel.set_params(output="gram").fit([1, 2])
    with pytest.raises(GraphTrialError, match="integer from 0"):
        WeisfeilerLehman(h=-1).fit(set_of([((1, []), [0])]))
