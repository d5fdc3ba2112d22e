"""The published faults: the examples that the published module was run on, and its rules written out graph by graph."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtrial.errors import GraphTrialError
from graphtrial.graphs import Column, GraphSet
from graphtrial.kernels import KERNELS
from graphtrial.kernels.as_published import PublishedGraphlet, PublishedShortestPath, PublishedWeisfeilerLeman
from graphtrial.kernels.trial import resolve_kernel
from graphtrial.spec import Component
from graphtrial.training import SvmRules
from samples import Graph, symmetric

Labelled = list[tuple[Graph, list[int]]]
patiently = settings(deadline=None, max_examples=30)


@st.composite
def graph_lists(draw: st.DrawFn) -> Labelled:
    """Undirected graphs without self-loops, which the published reader of these data never meets."""
    made = []
    for _ in range(draw(st.integers(1, 4))):
        nodes = draw(st.integers(1, 7))
        ends = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
        edges = {(min(u, v), max(u, v)) for u, v in draw(st.lists(ends, max_size=12)) if u != v}
        labels = draw(st.lists(st.integers(0, 3), min_size=nodes, max_size=nodes))
        made.append(((nodes, symmetric(sorted(edges))), labels))
    return made


def set_of(graphs: Labelled) -> GraphSet:
    ends = np.array([edge for (_, edges), _ in graphs for edge in edges], np.int64).reshape(-1, 2).T
    columns = {
        "node_label": Column(np.array([label for _, labels in graphs for label in labels]), "node", types=4),
        "edge_label": Column((ends[0] + ends[1]) % 2 if ends.size else np.zeros(0, np.int64), "edge", types=2),
    }
    return GraphSet.build([n for (n, _), _ in graphs], [len(edges) for (_, edges), _ in graphs], ends, columns)


def counts(name: str, graphs: Labelled, **settings: object) -> list[list[float]]:
    kernel = KERNELS.get(name)(output="features", normalise=False, **settings)
    return kernel.fit_transform(set_of(graphs)).toarray().tolist()


EDGE = (2, [(0, 1), (1, 0)])
PATH = (3, symmetric([(0, 1), (1, 2)]))
TRIANGLE = (3, symmetric([(0, 1), (1, 2), (0, 2)]))


def test_a_node_is_at_distance_two_from_itself_and_nodes_apart_are_a_kind() -> None:
    name = "shortest-path-as-published"
    assert counts(name, [(PATH, [0, 0, 0])], node_labels=False) == [[4, 8]]
    assert counts(name, [((2, []), [0, 0])], node_labels=False) == [[6]]


def test_paths_whose_first_label_is_zero_in_the_files_are_dropped() -> None:
    name = "shortest-path-as-published"
    assert sum(counts(name, [(EDGE, [0, 0])])[0]) == 0
    assert counts(name, [(EDGE, [0, 1])]) == [[1, 2]]  # (1, 0) at 1 and twice (1, 1) at 2; (0, 1) and (0, 0) are gone
    assert counts(name, [(EDGE, [0, 1])], first_label=1) == [[2, 1, 1, 2]]


def test_a_labelled_triangle_and_the_path_through_its_labels_are_one_kind() -> None:
    name = "graphlet-as-published"
    assert counts(name, [(PATH, [0, 1, 2]), (TRIANGLE, [2, 0, 1])]) == [[1], [1]]
    assert counts(name, [(PATH, [1, 0, 2]), (TRIANGLE, [2, 0, 1])]) == [[0, 1], [1, 0]]
    assert counts(name, [(PATH, [0, 0, 0]), (TRIANGLE, [0, 0, 0])]) == [[1], [1]]
    assert counts(name, [(PATH, [0, 0, 0]), (TRIANGLE, [0, 0, 0])], node_labels=False) == [[1, 0], [0, 1]]


@pytest.mark.parametrize("name", ["shortest-path", "graphlet", "wl", "wl-oa"])
def test_a_set_without_labels_is_one_whose_labels_are_not_used(name: str) -> None:
    labelled = set_of([(PATH, [0, 0, 0]), (TRIANGLE, [0, 0, 0]), (EDGE, [0, 0])])
    plain = GraphSet(labelled.structure, {})
    kind = KERNELS.get(f"{name}-as-published")
    unused = kind(node_labels=False).fit_transform(labelled)
    np.testing.assert_array_equal(kind().fit_transform(plain), unused)
    assert not np.array_equal(kind().fit_transform(labelled), unused)


def test_colours_of_different_steps_are_taken_for_one_another() -> None:
    name = "wl-as-published"
    # Label 0 beside label 1 becomes 0 + 1 * 1 = 1, which is the label 1; label 1 beside 0 becomes 1 + 1 + 0 = 2.
    assert counts(name, [(EDGE, [0, 1])], h=1) == [[1, 2, 1]]
    assert counts(name, [(EDGE, [0, 0])], h=3) == [[8]]
    assert counts(name, [((1, []), [3])], h=2) == [[3]]


def pair(a: int, b: int) -> int:
    return (a * a + a + b if a >= b else a + b * b) % 2**64


def folded(values: list[int]) -> int:
    result = values[0]
    for value in values[1:]:
        result = pair(result, value)
    return result


def products(counters: list[Counter]) -> np.ndarray:
    return np.array([[sum(a[key] * b[key] for key in a) for b in counters] for a in counters], float)


@patiently
@given(graph_lists(), st.booleans(), st.integers(0, 1))
def test_paths_equal_those_of_the_published_rule(graphs: Labelled, node_labels: bool, first_label: int) -> None:
    infinite, counters = 2**31 - 1, []
    for (nodes, edges), labels in graphs:
        far = np.full((nodes, nodes), infinite)
        for u, v in edges:
            far[u, v] = 1
        for k, i, j in product(range(nodes), repeat=3):
            if infinite not in (far[i, k], far[k, j]):
                far[i, j] = min(far[i, j], far[i, k] + far[k, j])
        counter: Counter = Counter()
        for i in range(nodes):
            for j in range(i, nodes):
                for u, v in ((i, j), (j, i)):
                    kind = (labels[u] + first_label, labels[v] + first_label, far[u, v])
                    if not node_labels:
                        counter[far[u, v]] += 1
                    elif kind[0] != 0:
                        counter[kind] += 1
        counters.append(counter)
    kernel = PublishedShortestPath(node_labels=node_labels, first_label=first_label, normalise=False)
    np.testing.assert_array_equal(kernel.fit_transform(set_of(graphs)), products(counters))


@patiently
@given(graph_lists(), st.integers(0, 1))
def test_graphlets_equal_those_of_the_published_rule(graphs: Labelled, first_label: int) -> None:
    counters = []
    for (nodes, edges), given_labels in graphs:
        labels, joined, counter = [label + first_label for label in given_labels], set(edges), Counter()
        for u, v, w in product(range(nodes), repeat=3):
            if (u, v) not in joined or (v, w) not in joined or w == u:
                continue
            if (u, w) in joined:
                counter[folded([3, *sorted([labels[u], labels[v], labels[w]])])] += 1 / 6
            else:
                ways = (labels[u], labels[v], labels[w]), (labels[w], labels[v], labels[u])
                counter[min(folded([3, *way]) for way in ways)] += 3 / 6
        counters.append(counter)
    found = PublishedGraphlet(normalise=False).fit_transform(set_of(graphs))
    np.testing.assert_allclose(found, products(counters), atol=1e-9)


@patiently
@given(graph_lists(), st.integers(0, 4), st.booleans(), st.booleans(), st.integers(0, 1))
def test_colours_equal_those_of_the_published_rule(
    graphs: Labelled, h: int, node_labels: bool, edge_labels: bool, first_label: int
) -> None:
    counters = []
    for (nodes, edges), labels in graphs:
        colour = [label + first_label for label in labels] if node_labels else [1] * nodes
        counter = Counter(colour if node_labels else [])
        for _ in range(h):
            near: list[list[int]] = [[] for _ in range(nodes)]
            for u, v in edges:
                near[v].append(colour[u])
                if edge_labels:
                    near[v].append(pair(colour[u], (u + v) % 2))
            colour = [folded([colour[v], *sorted(near[v])]) for v in range(nodes)]
            counter.update(colour)
        counters.append(counter)
    settings = {"h": h, "node_labels": node_labels, "edge_labels": edge_labels, "first_label": first_label}
    kernel = PublishedWeisfeilerLeman(**settings, normalise=False)
    np.testing.assert_array_equal(kernel.fit_transform(set_of(graphs)), products(counters))
    best = KERNELS.get("wl-oa-as-published")(**settings, normalise=False)
    minima = [[sum((a & b).values()) for b in counters] for a in counters]
    np.testing.assert_array_equal(best.fit_transform(set_of(graphs)), minima)


@pytest.mark.parametrize("name", ["wl-oa", "wl-oa-as-published"])
def test_a_kernel_without_features_is_refused_where_features_are_needed(name: str) -> None:
    with pytest.raises(GraphTrialError, match="no dot product of features"):
        KERNELS.get(name)(output="features").fit(set_of([(EDGE, [0, 1])]))
    with pytest.raises(GraphTrialError, match="needs machine=svc"):
        resolve_kernel(Component(name), SvmRules(machine="linear"))
