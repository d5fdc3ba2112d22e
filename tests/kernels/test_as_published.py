"""The published faults: the examples that the published module was run on, and its rules written out graph by graph."""

from __future__ import annotations

import dataclasses
import zipfile
from collections import Counter
from itertools import product
from pathlib import Path, PurePosixPath

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.samples import Graph, symmetric

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import Component
from graphtrial.datasets import load
from graphtrial.graphs import Column, GraphSet
from graphtrial.kernels import KERNELS
from graphtrial.kernels.as_published import PublishedGraphlet, PublishedShortestPath, PublishedWeisfeilerLehman
from graphtrial.svm.rules import KernelFoldRules
from graphtrial.trials.kinds.gram_cache import kernel_matrix
from graphtrial.trials.kinds.kernel_fold import KernelFold

Labelled = list[tuple[Graph, list[int]]]
patiently = settings(deadline=None, max_examples=30)


@st.composite
def graph_lists(draw: st.DrawFn) -> Labelled:
    """Undirected graphs without self-loops, which the published reader of these data never meets."""
    built = []
    for _ in range(draw(st.integers(1, 4))):
        nodes = draw(st.integers(1, 7))
        ends = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
        edges = {(min(u, v), max(u, v)) for u, v in draw(st.lists(ends, max_size=12)) if u != v}
        labels = draw(st.lists(st.integers(0, 3), min_size=nodes, max_size=nodes))
        built.append(((nodes, symmetric(sorted(edges))), labels))
    return built


def set_of(graphs: Labelled, first: int = 0, types: int = 4) -> GraphSet:
    """Make a set as the reader of TU files does where node and edge labels start at `first`."""
    shift = f", {first} in the file being 0" if first else ""
    ends = np.array([edge for (_, edges), _ in graphs for edge in edges], np.int64).reshape(-1, 2).T
    columns = {
        "node_label": Column(
            np.array([label for _, labels in graphs for label in labels]), "node", f"node label{shift}", types
        ),
        "edge_label": Column(
            (ends[0] + ends[1]) % 2 if ends.size else np.zeros(0, np.int64), "edge", f"edge label{shift}", 2
        ),
    }
    return GraphSet.build([n for (n, _), _ in graphs], [len(edges) for (_, edges), _ in graphs], ends, columns)


def counts(name: str, graphs: Labelled, **settings: object) -> list[list[float]]:
    kernel = KERNELS.get(name)(output="features", normalise=False, **settings)
    return kernel.fit_transform(set_of(graphs)).toarray().tolist()


EDGE = (2, [(0, 1), (1, 0)])
PATH = (3, symmetric([(0, 1), (1, 2)]))
TRIANGLE = (3, symmetric([(0, 1), (1, 2), (0, 2)]))


def test_self_distance_is_two_and_disconnected_pairs_are_counted() -> None:
    name = "shortest-path-as-published"
    assert counts(name, [(PATH, [0, 0, 0])], node_labels=False) == [[4, 8]]
    assert counts(name, [((2, []), [0, 0])], node_labels=False) == [[6]]


def test_paths_whose_first_label_is_zero_in_the_files_are_dropped() -> None:
    name = "shortest-path-as-published"
    assert sum(counts(name, [(EDGE, [0, 0])])[0]) == 0
    assert counts(name, [(EDGE, [0, 1])]) == [[1, 2]]  # (1, 0) at 1 and twice (1, 1) at 2; (0, 1) and (0, 0) are gone
    assert counts(name, [(EDGE, [0, 1])], first_label=1) == [[2, 1, 1, 2]]


@pytest.mark.slow
def test_labelled_triangle_and_path_collide() -> None:
    name = "graphlet-as-published"
    assert counts(name, [(PATH, [0, 1, 2]), (TRIANGLE, [2, 0, 1])]) == [[1], [1]]
    assert counts(name, [(PATH, [1, 0, 2]), (TRIANGLE, [2, 0, 1])]) == [[0, 1], [1, 0]]
    assert counts(name, [(PATH, [0, 0, 0]), (TRIANGLE, [0, 0, 0])]) == [[1], [1]]
    assert counts(name, [(PATH, [0, 0, 0]), (TRIANGLE, [0, 0, 0])], node_labels=False) == [[1, 0], [0, 1]]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shortest-path", "graphlet", "wl", "wl-oa"])
def test_set_without_labels_equals_set_with_unused_labels(name: str) -> None:
    labelled = set_of([(PATH, [0, 0, 0]), (TRIANGLE, [0, 0, 0]), (EDGE, [0, 0])])
    plain = GraphSet(labelled.structure, {})
    kind = KERNELS.get(f"{name}-as-published")
    unused = kind(node_labels=False).fit_transform(labelled)
    np.testing.assert_array_equal(kind().fit_transform(plain), unused)
    assert not np.array_equal(kind().fit_transform(labelled), unused)


def test_colours_of_different_iterations_collide_as_published() -> None:
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


def published_paths(graphs: Labelled, first_label: int = 0, *, node_labels: bool = True) -> list[Counter]:
    infinite, counters = 2**31 - 1, []
    for (nodes, edges), labels in graphs:
        far = np.full((nodes, nodes), infinite)
        for u, v in edges:
            far[u, v] = 1
        for k in range(nodes):
            through = np.where((far[:, [k]] < infinite) & (far[[k]] < infinite), far[:, [k]] + far[[k]], infinite)
            far = np.minimum(far, through)
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
    return counters


def published_colours(
    graphs: Labelled, h: int, first_label: int = 0, *, node_labels: bool = True, edge_labels: bool = False
) -> list[Counter]:
    counters = []
    for (nodes, edges), labels in graphs:
        colour = [label + first_label for label in labels] if node_labels else [1] * nodes
        counter = Counter(colour if node_labels else [])
        for _ in range(h):
            near: list[list[int]] = [[] for _ in range(nodes)]
            for u, v in edges:
                near[v].append(colour[u])
                if edge_labels:
                    near[v].append(pair(colour[u], (u + v) % 2 + first_label))
            colour = [folded([colour[v], *sorted(near[v])]) for v in range(nodes)]
            counter.update(colour)
        counters.append(counter)
    return counters


@patiently
@given(graph_lists(), st.booleans(), st.integers(0, 1))
def test_paths_match_the_published_rule(graphs: Labelled, node_labels: bool, first_label: int) -> None:
    counters = published_paths(graphs, first_label, node_labels=node_labels)
    kernel = PublishedShortestPath(node_labels=node_labels, normalise=False)
    np.testing.assert_array_equal(kernel.fit_transform(set_of(graphs, first_label)), products(counters))


def published_graphlets(graphs: Labelled, first_label: int) -> list[Counter]:
    counters = []
    for (nodes, edges), given_labels in graphs:
        labels, joined, counter = [label + first_label for label in given_labels], set(edges), Counter()
        near = {v: [u for u, w in joined if w == v] for v in range(nodes)}
        walks = [(u, v, w) for v in near for u, w in product(near[v], repeat=2) if u != w]
        for u, v, w in walks:
            if (u, w) in joined:
                counter[folded([3, *sorted([labels[u], labels[v], labels[w]])])] += 1 / 6
            else:
                ways = (labels[u], labels[v], labels[w]), (labels[w], labels[v], labels[u])
                counter[min(folded([3, *way]) for way in ways)] += 3 / 6
        counters.append(counter)
    return counters


@patiently
@given(graph_lists(), st.integers(0, 1))
def test_graphlets_match_the_published_rule(graphs: Labelled, first_label: int) -> None:
    actual = PublishedGraphlet(normalise=False).fit_transform(set_of(graphs, first_label))
    np.testing.assert_allclose(actual, products(published_graphlets(graphs, first_label)), atol=1e-9)


@patiently
@given(graph_lists(), st.sampled_from([300, 5_000, 40_000]), st.integers(0, 1))
def test_numbers_of_graphlets_wrap_at_64_bits(graphs: Labelled, step: int, first_label: int) -> None:
    spread = [(graph, [label * step for label in labels]) for graph, labels in graphs]
    actual = PublishedGraphlet(normalise=False).fit_transform(set_of(spread, first_label, 3 * step + 1))
    np.testing.assert_allclose(actual, products(published_graphlets(spread, first_label)), atol=1e-9)


@pytest.mark.parametrize("name", ["shortest-path", "graphlet", "wl", "wl-oa"])
def test_first_label_of_the_files_is_recorded_or_an_argument(name: str) -> None:
    graphs = [(PATH, [0, 1, 2]), (TRIANGLE, [2, 0, 1]), (EDGE, [0, 1])]
    kind = KERNELS.get(f"{name}-as-published")
    registered = kind(normalise=False).fit_transform(set_of(graphs, 1))
    np.testing.assert_array_equal(kind(normalise=False, first_label=1).fit_transform(set_of(graphs)), registered)
    if name != "graphlet":  # whose numbers are merged alike wherever none wraps around
        assert not np.array_equal(kind(normalise=False).fit_transform(set_of(graphs)), registered)
    fitted = kind(normalise=False).fit(set_of(graphs[:2], 1))
    np.testing.assert_array_equal(fitted.transform(set_of(graphs[2:], 1)), registered[2:, :2])


def test_first_labels_of_different_datasets_differ() -> None:
    ones, zeros = set_of([(EDGE, [0, 0])], 1), set_of([(EDGE, [1, 1])])  # label 1 in the files of both
    for name in ("wl", "wl-as-published"):
        np.testing.assert_allclose(KERNELS.get(name)(h=1).fit(ones).transform(zeros), [[1.0]])


def test_unknown_raw_labels_raise() -> None:
    built = set_of([(PATH, [0, 1, 2])])
    labels = built.column("node_label")
    lost = built.with_column("node_label", Column(labels.values, "node", "node label, counted through", labels.types))
    with pytest.raises(GraphTrialError, match="give first_label"):
        PublishedGraphlet().fit(lost)
    PublishedGraphlet(first_label=1).fit(lost)


def tables_of(archive: Path, graphs: int) -> Labelled:
    """Read the first graphs of a TU archive with the labels that stand in its files, by a reader of its own."""
    name = archive.stem
    with zipfile.ZipFile(archive) as opened:
        members = {PurePosixPath(member).name: member for member in opened.namelist()}
        lines = {
            table: opened.read(members[f"{name}_{table}.txt"]).decode().split("\n")
            for table in ("A", "graph_indicator", "node_labels")
        }
    graph_of = [int(line) for line in lines["graph_indicator"] if line.strip()]
    labels = [int(line) for line in lines["node_labels"] if line.strip()]
    built = []
    for graph in range(1, graphs + 1):
        nodes = [node for node, of in enumerate(graph_of) if of == graph]
        built.append((nodes[0], len(nodes), [labels[node] for node in nodes], set()))
    for line in lines["A"]:
        if line.strip():
            u, v = (int(end) - 1 for end in line.split(","))
            if graph_of[u] <= graphs:
                first, _, _, edges = built[graph_of[u] - 1]
                edges |= {(u - first, v - first), (v - first, u - first)}
    return [((nodes, sorted(edges)), labels) for _, nodes, labels, edges in built]


@pytest.mark.parametrize(("dataset", "archive"), [("enzymes+labels", "ENZYMES"), ("nci1", "NCI1"), ("mutag", "MUTAG")])
def test_trial_matches_the_published_module(dataset: str, archive: str, mirror: Path) -> None:
    graphs = tables_of(mirror / "TU" / f"{archive}.zip", 25)
    whole, rules = load(dataset), KernelFoldRules()
    few = dataclasses.replace(whole, graphs=whole.graphs[:25])
    resolved = KernelFold(rules).resolve(Component("wl-as-published", {"normalise": False}))
    actual = kernel_matrix(few, Component(resolved.name, resolved.arguments | {"h": 3}))
    np.testing.assert_array_equal(actual, products(published_colours(graphs, 3)))
    resolved = KernelFold(rules).resolve(Component("shortest-path-as-published", {"normalise": False}))
    np.testing.assert_array_equal(kernel_matrix(few, resolved), products(published_paths(graphs)))
    resolved = KernelFold(rules).resolve(Component("graphlet-as-published", {"normalise": False}))
    np.testing.assert_allclose(kernel_matrix(few, resolved), products(published_graphlets(graphs, 0)), atol=1e-9)


@patiently
@given(graph_lists(), st.integers(0, 4), st.booleans(), st.booleans(), st.integers(0, 1))
def test_colours_match_the_published_rule(
    graphs: Labelled, h: int, node_labels: bool, edge_labels: bool, first_label: int
) -> None:
    counters = published_colours(graphs, h, first_label, node_labels=node_labels, edge_labels=edge_labels)
    settings = {"h": h, "node_labels": node_labels, "edge_labels": edge_labels}
    built = set_of(graphs, first_label)
    kernel = PublishedWeisfeilerLehman(**settings, normalise=False)
    np.testing.assert_array_equal(kernel.fit_transform(built), products(counters))
    best = KERNELS.get("wl-oa-as-published")(**settings, normalise=False)
    minima = [[sum((a & b).values()) for b in counters] for a in counters]
    np.testing.assert_array_equal(best.fit_transform(built), minima)


@pytest.mark.parametrize("name", ["wl-oa", "wl-oa-as-published"])
def test_kernel_without_feature_map_raises_for_features(name: str) -> None:
    with pytest.raises(GraphTrialError, match="no explicit feature map"):
        KERNELS.get(name)(output="features").fit(set_of([(EDGE, [0, 1])]))
    with pytest.raises(GraphTrialError, match="needs machine=svc"):
        KernelFold(KernelFoldRules(machine="linear")).resolve(Component(name))
