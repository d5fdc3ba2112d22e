"""Cycle detection: sparse graphs with and without a cycle of given length, otherwise identically distributed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.arguments import Range
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.signatures import check_fields
from graphtrial.datasets.generators.draws import Draws
from graphtrial.graphs import Column, GraphSet

Array = npt.NDArray[Any]
MOST_NODES = 100_000
CycleLength = Annotated[int, Range(3, MOST_NODES)]
RINGS, FOREST, ORDER, LABEL = range(4)
"""Indices of the random streams."""


@dataclass(frozen=True)
class CycleModel:
    """Random graphs of two cycles and some trees.

    The number of nodes is `smallest` plus the sum of four uniform integers in 0 to `spread`; the number of trees
    without a cycle is the sum of two uniform integers in 0 to `trees`. The second cycle has 3 to `longest` nodes, but
    not `length`.
    """

    length: CycleLength = 6
    smallest: Annotated[int, Range(6, MOST_NODES)] = 37
    spread: Annotated[int, Range(0, MOST_NODES)] = 6
    trees: Annotated[int, Range(0, MOST_NODES)] = 5
    longest: CycleLength = 12

    def __post_init__(self) -> None:
        check_fields(self, "a model of cycles")
        if not self.seconds:
            raise GraphTrialError(
                f"a second ring of 3 to {self.longest} nodes leaves no other class; allow a longer one"
            )
        needed = self.length + self.longest + 2 * self.trees
        if self.smallest < needed:
            raise GraphTrialError(f"{self.smallest} nodes are too few for these rings and trees; allow {needed}")

    @property
    def seconds(self) -> list[int]:
        """Lengths of the second cycle for which another pair of cycles has the same total length."""
        lengths = [second for second in range(3, self.longest + 1) if second != self.length]
        return [second for second in lengths if self._other_pairs(second)]

    def rings(self, graphs: int, draws: Draws) -> npt.NDArray[np.int64]:
        """Sample cycle lengths [2, graphs, 2] with and without a cycle of length `length`."""
        seconds = self.seconds
        table = [self._other_pairs(second) for second in seconds]
        first = draws.below(np.full(graphs, len(seconds)))
        chosen = draws.below(np.array([len(pairs) for pairs in table])[first])
        negative = [table[a][b] for a, b in zip(first.tolist(), chosen.tolist(), strict=True)]
        positive = np.stack([np.full(graphs, self.length), np.array(seconds)[first]], axis=1)
        return np.stack([positive, np.array(negative, np.int64).reshape(-1, 2)])

    def _other_pairs(self, second: int) -> list[tuple[int, int]]:
        total = self.length + second
        return [(a, total - a) for a in range(3, total - 2) if self.length not in (a, total - a)]


def cycle_graphs(model: CycleModel, graphs: int, seed: int) -> GraphSet:
    """Generate balanced graphs with and without a cycle of `model.length` nodes.

    A graph has two cycles, some tree roots, and nodes attached to uniform random earlier nodes. Positive graphs have a
    cycle of the given length and another one, negative graphs two other cycles of the same total length: numbers of
    nodes, edges and components and degrees have the same distribution. Labels are verified by exact search. x: constant
    1; y: 1 with the cycle.
    """
    from graphtrial.datasets.generators.cycle_search import has_cycle  # numba is slow to import

    pairs = (graphs + 1) // 2
    labels = np.stack([Draws(seed, LABEL).below(np.full(pairs, 2))] * 2, axis=1)
    labels[:, 1] ^= 1  # one of two consecutive graphs is positive, so that every even prefix is balanced
    rings = model.rings(graphs, Draws(seed, RINGS))[1 - labels.ravel()[:graphs], np.arange(graphs)]
    forest = Draws(seed, FOREST)
    nodes = model.smallest + forest.below(np.full((graphs, 4), model.spread + 1)).sum(axis=1)
    trees = forest.below(np.full((graphs, 2), model.trees + 1)).sum(axis=1)
    node, other = _links(rings, trees, nodes, forest)
    graph = np.repeat(np.arange(graphs), nodes)[other >= 0]
    first = np.cumsum(nodes) - nodes
    position = Draws(seed, ORDER).permutations(nodes) - np.repeat(first, nodes)
    ends = position[first[graph] + np.stack([node, other])[:, other >= 0]]
    both = np.concatenate([ends, ends[::-1]], axis=1)[:, np.argsort(np.tile(graph, 2), kind="stable")]
    graph_set = GraphSet.build(nodes, 2 * np.bincount(graph, minlength=graphs), both)
    structure = (graph_set.node_ptr, graph_set.edge_ptr, graph_set.edge_index, graph_set.in_degree)
    positive = has_cycle(*structure, model.length)
    y = Column(positive.astype(np.uint8), "graph", f"1 with a cycle of {model.length} nodes", types=2)
    constant = Column(np.ones(graph_set.num_nodes, np.float32), "node", "constant")
    return graph_set.with_column("x", constant).with_column("y", y)


def _links(rings: Array, trees: Array, nodes: Array, draws: Draws) -> tuple[Array, Array]:
    """Return each node and its neighbour: the next node of its cycle, -1 for a root, else a random earlier node."""
    first, second = (np.repeat(ring, nodes) for ring in rings.T)
    node = np.arange(nodes.sum()) - np.repeat(np.cumsum(nodes) - nodes, nodes)
    earlier = draws.below(node)
    root = node < first + second + np.repeat(trees, nodes)
    around_second = first + (node - first + 1) % second
    choices = [(node + 1) % first, around_second, np.full(len(node), -1)]
    return node, np.select([node < first, node < first + second, root], choices, earlier)
