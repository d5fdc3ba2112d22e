"""Kernels with the faults of the module that TUDataset's numbers were made with, to compare with; see docs/errata.md.

The module numbers kinds by pairing numbers, Szudzik's way, in 64 bits. A set without labels is taken as one whose
labels are not used, as the published scripts did. Several faults concern the label 0 of the files, where a set may have
labels from 1: a set that was read from such files knows so, and for others `first_label` says what the files call the
label that is 0 here.
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
from graphtrial.kernels.graphlet import PATH, Graphlet, graphlets_by_kind
from graphtrial.kernels.shortest_path import paths_by_kind
from graphtrial.kernels.structure import Structure

Label = Annotated[int, Range(-LARGEST, LARGEST)]
INFINITE = 2**31 - 1
"""The distance of nodes without a path."""


@KERNELS.register("shortest-path-as-published", title="Shortest path (as published)")
class PublishedShortestPath(GraphKernel):
    """The shortest-path kernel with its published faults.

    A node with a neighbour is at distance 2 from itself, and the pair counts twice; pairs without a path, and twice a
    node without neighbours and itself, count as a kind of their own; where labels are used, kinds whose first label is
    0 are dropped.
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
        paths = paths_by_kind(structure)
        found = paths.counts.tocoo()
        a, b, distance = paths.kinds[found.col].T
        graph, label = structure.graph_of_node, structure.node_label
        alone = _is_alone(structure)
        own = np.where(alone, INFINITE, np.where(_has_loop(structure), 1, 2))
        apart = _pairs_apart(structure, found.row, a, b, found.data)
        rows = np.concatenate([found.row, graph, apart[0]])
        kinds = np.stack(
            [
                np.concatenate([a, label, apart[1]]),
                np.concatenate([b, label, apart[2]]),
                np.concatenate([distance, own, np.full(len(apart[0]), INFINITE)]),
            ],
            axis=1,
        )
        times = np.concatenate([found.data, np.full(len(label), 2.0), apart[3]])
        if structure.labelled:
            kept = kinds[:, 0] + _first(self.first_label, structure) != 0
            rows, kinds, times = rows[kept], kinds[kept], times[kept]
        names, column = np.unique(kinds, axis=0, return_inverse=True)
        return gram.counts(rows, column.reshape(-1), (structure.graphs, max(1, len(names))), times)


@KERNELS.register("graphlet-as-published", title="Graphlet (as published)")
class PublishedGraphlet(Graphlet):
    """The graphlet kernel with its published faults.

    Where labels are used, a triangle with labels a <= b <= c and the path a - b - c are one kind, and kinds are numbers
    that wrap around at 64 bits, from 256 labels on: then kinds may coincide, and the smaller number of the two
    directions of a path need not be that of the smaller end.
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
        found = graphlets_by_kind(structure)
        if not structure.labelled:
            return found.counts
        labels = (found.kinds[:, 1:] + _first(self.first_label, structure)).astype(np.uint64)
        middle, one, other = labels.T  # of a path, whose middle comes first
        paths = np.minimum(_paired(3, one, middle, other), _paired(3, other, middle, one))
        triangles = _paired(3, *np.sort(labels, axis=1).T)
        kinds = np.where(found.kinds[:, 0] == PATH, paths, triangles)
        names, column = np.unique(kinds, return_inverse=True)
        merge = (np.ones(len(kinds)), (np.arange(len(kinds)), column.reshape(-1)))
        return sparse.csr_matrix(found.counts @ sparse.csr_matrix(merge, shape=(len(kinds), len(names))))


@KERNELS.register("wl-as-published", title="1-WL (as published)")
class PublishedWeisfeilerLeman(GraphKernel):
    """The Weisfeiler-Leman subtree kernel with its published faults.

    Colours of all steps share their numbers, so that a colour may be counted as another: a node of label 0 and one
    neighbour of label 1 becomes 1, and so on for all labels 0. Numbers wrap around at 64 bits. Step 0 counts with
    labels only, and with edge labels each neighbour counts both with and without that of its edge.
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
        start = _first(self.first_label, structure) if structure.labelled else 1
        colour = (structure.node_label + start).astype(np.uint64)
        steps = [colour] if structure.labelled else []
        for _ in range(self.h):
            colour = _published_step(structure, colour)
            steps.append(colour)
        names, column = np.unique(np.concatenate([*steps, np.empty(0, np.uint64)]), return_inverse=True)
        rows = np.tile(structure.graph_of_node, len(steps))
        return gram.counts(rows, column.reshape(-1), (structure.graphs, max(1, len(names))))


@KERNELS.register("wl-oa-as-published", title="WL-OA (as published)")
class PublishedOptimalAssignment(PublishedWeisfeilerLeman):
    """The Weisfeiler-Leman optimal assignment kernel with the published faults of the subtree kernel."""

    explicit = False

    def compare(self, left: sparse.csr_matrix, right: sparse.csr_matrix) -> npt.NDArray[np.float64]:
        return gram.intersections(left, right)

    def lengths(self, features: sparse.csr_matrix) -> npt.NDArray[np.float64]:
        return np.asarray(features.sum(axis=1)).reshape(-1)


def _is_alone(structure: Structure) -> npt.NDArray[np.bool_]:
    return np.asarray(np.diff(structure.ptr) == 0)


def _has_loop(structure: Structure) -> npt.NDArray[np.bool_]:
    target = np.repeat(np.arange(structure.nodes), np.diff(structure.ptr))
    made = np.zeros(structure.nodes, bool)
    made[target[target == structure.neighbour]] = True
    return made


def _pairs_apart(structure: Structure, row: Any, a: Any, b: Any, count: Any) -> tuple[Any, Any, Any, Any]:
    """Return graph, labels and number of the ordered pairs of nodes without a path."""
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


def _first(given: int | None, structure: Structure) -> int:
    """Return what the file calls node label 0: what was given, or what the set knows."""
    first = structure.first_label if given is None else given
    if first is None:
        raise GraphTrialError(
            "the numbers of the node labels were given up when the file was read, and the published module looks at "
            "them: give first_label, the number that the file has for label 0"
        )
    return first


def _published_step(structure: Structure, colour: Any) -> Any:
    labels = np.empty(0, np.uint64)
    if structure.edge_label is not None:
        labels = (structure.edge_label + (structure.first_edge_label or 0)).astype(np.uint64)
    return _fold(structure.ptr, structure.neighbour, labels, colour)


def _paired(start: int, *labels: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return the number that rows of labels are paired to, one after the other, in 64 bits without a sign."""
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
                both[2 * at] = _pair(seen[at], edge_label[begin + at])
                both[2 * at + 1] = seen[at]
            seen = both
        seen.sort()
        value = colour[node]
        for other in seen:
            value = _pair(value, other)
        new[node] = value
    return new


@compiled
def _pair(a: Any, b: Any) -> Any:
    return a * a + a + b if a >= b else a + b * b
