"""Kernels that reproduce the faults of the module behind TUDataset's published numbers; see docs/errata.md.

The module identifies features by Szudzik's pairing function in 64 bits. Sets without labels are treated as unlabelled,
as in the published scripts. Several faults concern label 0 of the raw files, whose labels may start elsewhere: a set
read from such files records its first label, for others `first_label` gives the raw value of label 0.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphtrial.core.arguments import LARGEST, Range, Steps
from graphtrial.core.compiler import compiled
from graphtrial.core.errors import GraphTrialError
from graphtrial.kernels import gram
from graphtrial.kernels.base import KERNELS, GraphKernel, Output
from graphtrial.kernels.graphlet import PATH, Graphlet, graphlet_counts
from graphtrial.kernels.shortest_path import path_counts
from graphtrial.kernels.structure import Structure

Label = Annotated[int, Range(-LARGEST, LARGEST)]
INFINITE = 2**31 - 1
"""Distance between disconnected nodes."""


@KERNELS.register("shortest-path-as-published", title="Shortest path (as published)")
class PublishedShortestPath(GraphKernel):
    """Shortest-path kernel with the published faults.

    A node with a neighbour has distance 2 to itself, and the pair counts twice; disconnected pairs, and an isolated
    node with itself (twice), are features at distance infinity; with labels, features whose first label is 0 are
    dropped.
    """

    version = 3

    def __init__(
        self,
        node_labels: bool = True,
        first_label: Label | None = None,
        normalise: bool = True,
        output: Output = "gram",
    ) -> None:
        self.node_labels = node_labels
        self.first_label = first_label
        self.normalise = normalise
        self.output = output

    def features(self, structure: Structure) -> sparse.csr_matrix:
        paths = path_counts(structure)
        pair_counts = paths.counts.tocoo()
        a, b, distance = paths.kinds[pair_counts.col].T
        graph, label = structure.graph_of_node, structure.node_label
        isolated = _is_isolated(structure)
        own = np.where(isolated, INFINITE, np.where(_has_loop(structure), 1, 2))
        disconnected = _disconnected_pairs(structure, pair_counts.row, a, b, pair_counts.data)
        rows = np.concatenate([pair_counts.row, graph, disconnected[0]])
        kinds = np.stack(
            [
                np.concatenate([a, label, disconnected[1]]),
                np.concatenate([b, label, disconnected[2]]),
                np.concatenate([distance, own, np.full(len(disconnected[0]), INFINITE)]),
            ],
            axis=1,
        )
        times = np.concatenate([pair_counts.data, np.full(len(label), 2.0), disconnected[3]])
        if structure.labelled:
            mask = kinds[:, 0] + _raw_first_label(self.first_label, structure) != 0
            rows, kinds, times = rows[mask], kinds[mask], times[mask]
        names, column = np.unique(kinds, axis=0, return_inverse=True)
        return gram.counts(rows, column.reshape(-1), (structure.graphs, max(1, len(names))), times)


@KERNELS.register("graphlet-as-published", title="Graphlet (as published)")
class PublishedGraphlet(Graphlet):
    """Graphlet kernel with the published faults.

    With labels, a triangle with labels a <= b <= c and the path a - b - c are the same feature. Feature numbers
    overflow 64 bits from 256 labels on: features may collide, and the smaller number of the two directions of a path
    need not be that of the smaller end label.
    """

    version = 3

    def __init__(
        self,
        node_labels: bool = True,
        first_label: Label | None = None,
        normalise: bool = True,
        output: Output = "gram",
    ) -> None:
        super().__init__(node_labels, normalise, output)
        self.first_label = first_label

    def features(self, structure: Structure) -> sparse.csr_matrix:
        graphlets = graphlet_counts(structure)
        if not structure.labelled:
            return graphlets.counts
        labels = (graphlets.kinds[:, 1:] + _raw_first_label(self.first_label, structure)).astype(np.uint64)
        middle, one, other = labels.T  # of a path, whose middle comes first
        paths = np.minimum(_szudzik_fold(3, one, middle, other), _szudzik_fold(3, other, middle, one))
        triangles = _szudzik_fold(3, *np.sort(labels, axis=1).T)
        kinds = np.where(graphlets.kinds[:, 0] == PATH, paths, triangles)
        names, column = np.unique(kinds, return_inverse=True)
        merge = (np.ones(len(kinds)), (np.arange(len(kinds)), column.reshape(-1)))
        return sparse.csr_matrix(graphlets.counts @ sparse.csr_matrix(merge, shape=(len(kinds), len(names))))


@KERNELS.register("wl-as-published", title="1-WL (as published)")
class PublishedWeisfeilerLehman(GraphKernel):
    """Weisfeiler-Leman subtree kernel with the published faults.

    Colours of all rounds share one number space and collide: a node of label 0 with one neighbour of label 1 becomes 1.
    Numbers overflow 64 bits. Round 0 is counted only with labels, and with edge labels each neighbour contributes both
    with and without the label of its edge.
    """

    version = 3

    def __init__(
        self,
        h: Steps = 5,
        node_labels: bool = True,
        edge_labels: bool = False,
        first_label: Label | None = None,
        normalise: bool = True,
        output: Output = "gram",
    ) -> None:
        self.h = h
        self.node_labels = node_labels
        self.edge_labels = edge_labels
        self.first_label = first_label
        self.normalise = normalise
        self.output = output

    def features(self, structure: Structure) -> sparse.csr_matrix:
        start = _raw_first_label(self.first_label, structure) if structure.labelled else 1
        colour = (structure.node_label + start).astype(np.uint64)
        steps = [colour] if structure.labelled else []
        for _ in range(self.h):
            colour = _refine_as_published(structure, colour)
            steps.append(colour)
        names, column = np.unique(np.concatenate([*steps, np.empty(0, np.uint64)]), return_inverse=True)
        rows = np.tile(structure.graph_of_node, len(steps))
        return gram.counts(rows, column.reshape(-1), (structure.graphs, max(1, len(names))))


@KERNELS.register("wl-oa-as-published", title="WL-OA (as published)")
class PublishedOptimalAssignment(PublishedWeisfeilerLehman):
    """Weisfeiler-Leman optimal assignment kernel with the published faults of the subtree kernel."""

    explicit = False

    def compare(self, left: sparse.csr_matrix, right: sparse.csr_matrix) -> npt.NDArray[np.float64]:
        return gram.intersections(left, right)

    def diagonal(self, features: sparse.csr_matrix) -> npt.NDArray[np.float64]:
        return np.asarray(features.sum(axis=1)).reshape(-1)


def _is_isolated(structure: Structure) -> npt.NDArray[np.bool_]:
    return np.asarray(np.diff(structure.ptr) == 0)


def _has_loop(structure: Structure) -> npt.NDArray[np.bool_]:
    target = np.repeat(np.arange(structure.nodes), np.diff(structure.ptr))
    has_loop = np.zeros(structure.nodes, bool)
    has_loop[target[target == structure.neighbour]] = True
    return has_loop


def _disconnected_pairs(structure: Structure, row: Any, a: Any, b: Any, count: Any) -> tuple[Any, Any, Any, Any]:
    """Return graph, labels and number of the ordered disconnected pairs of nodes."""
    labels = int(structure.node_label.max(initial=0)) + 1
    shape = (structure.graphs, labels)
    of_label = gram.counts(structure.graph_of_node, structure.node_label, shape)
    linked = gram.counts(row, a * labels + b, (structure.graphs, labels * labels), count)
    here = of_label.tocoo()
    pairs = (
        sparse.csr_matrix((here.data, (np.arange(here.nnz), here.row)), shape=(here.nnz, structure.graphs)) @ of_label
    )  # for each (graph, label a), a times the nodes of each label b
    pairs = pairs.tocoo()
    graph, first, second = here.row[pairs.row], here.col[pairs.row], pairs.col
    all_pairs = pairs.data - np.where(first == second, here.data[pairs.row], 0.0)
    joined = np.asarray(linked[graph, first.astype(np.int64) * labels + second]).reshape(-1)
    left = all_pairs - joined
    there = left > 0
    return graph[there], first[there], second[there], left[there]


def _raw_first_label(given: int | None, structure: Structure) -> int:
    """Return the raw value of node label 0: the given one, else the one recorded in the set."""
    first = structure.first_label if given is None else given
    if first is None:
        raise GraphTrialError(
            "the published kernel depends on the raw node labels, which this set does not record: give first_label, "
            "the value of label 0 in the raw file"
        )
    return first


def _refine_as_published(structure: Structure, colour: Any) -> Any:
    labels = np.empty(0, np.uint64)
    if structure.edge_label is not None:
        labels = (structure.edge_label + (structure.first_edge_label or 0)).astype(np.uint64)
    return _fold(structure.ptr, structure.neighbour, labels, colour)


def _szudzik_fold(start: int, *labels: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Fold columns of labels by Szudzik's pairing function, in unsigned 64 bits."""
    value = np.full(len(labels[0]), start, np.uint64)
    for label in labels:
        value = np.where(value >= label, value * value + value + label, value + label * label)
    return value


@compiled
def _fold(ptr: Any, neighbour: Any, edge_label: Any, colour: Any) -> Any:
    new = np.empty_like(colour)
    for node in range(len(colour)):
        begin, end = ptr[node], ptr[node + 1]
        seen = colour[neighbour[begin:end]]
        if len(edge_label):
            both = np.empty(2 * len(seen), np.uint64)
            for at in range(len(seen)):
                both[2 * at] = _szudzik(seen[at], edge_label[begin + at])
                both[2 * at + 1] = seen[at]
            seen = both
        seen.sort()
        value = colour[node]
        for other in seen:
            value = _szudzik(value, other)
        new[node] = value
    return new


@compiled
def _szudzik(a: Any, b: Any) -> Any:
    return a * a + a + b if a >= b else a + b * b
