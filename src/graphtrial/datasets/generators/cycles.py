"""Sparse graphs that hold a cycle of a given length or do not, and look the same otherwise."""

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
"""The streams of random numbers."""


@dataclass(frozen=True)
class CycleModel:
    """Two rings and some trees, grown to `smallest` nodes and more.

    The number of nodes is `smallest` plus four throws of a die from 0 to `spread`, that of trees without a ring two
    throws of a die from 0 to `trees`. The second ring has 3 to `longest` nodes, but not `length`.
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
        """The lengths of the second ring for which there are two other rings as long together."""
        lengths = [second for second in range(3, self.longest + 1) if second != self.length]
        return [second for second in lengths if self._other_pairs(second)]

    def rings(self, graphs: int, draws: Draws) -> npt.NDArray[np.int64]:
        """Return the lengths of the two rings [2, graphs, 2]: with the wanted length, and without it."""
        seconds = self.seconds
        table = [self._other_pairs(second) for second in seconds]
        first = draws.below(np.full(graphs, len(seconds)))
        chosen = draws.below(np.array([len(pairs) for pairs in table])[first])
        without = [table[a][b] for a, b in zip(first.tolist(), chosen.tolist(), strict=True)]
        wanted = np.stack([np.full(graphs, self.length), np.array(seconds)[first]], axis=1)
        return np.stack([wanted, np.array(without, np.int64).reshape(-1, 2)])

    def _other_pairs(self, second: int) -> list[tuple[int, int]]:
        total = self.length + second
        return [(a, total - a) for a in range(3, total - 2) if self.length not in (a, total - a)]


def cycle_graphs(model: CycleModel, graphs: int, seed: int) -> GraphSet:
    """Return graphs of which every second one, in random order, has a cycle of the wanted length.

    A graph is made of two rings, a few single nodes, and further nodes that are each hung on any earlier one. One class
    has a ring of the wanted length and another one, the other class two rings of other lengths that are as long
    together: sizes, edges, components and degrees are distributed alike in both. The label is what an exact search
    for the cycle finds. x: the number 1 everywhere; y: 1 where there is the cycle.
    """
    from graphtrial.datasets.generators.cycle_search import has_cycle  # numba takes a moment to import

    pairs = (graphs + 1) // 2
    wanted = np.stack([Draws(seed, LABEL).below(np.full(pairs, 2))] * 2, axis=1)
    wanted[:, 1] ^= 1  # of two neighbours one has the cycle, so that every even number of graphs is balanced
    rings = model.rings(graphs, Draws(seed, RINGS))[1 - wanted.ravel()[:graphs], np.arange(graphs)]
    forest = Draws(seed, FOREST)
    nodes = model.smallest + forest.below(np.full((graphs, 4), model.spread + 1)).sum(axis=1)
    trees = forest.below(np.full((graphs, 2), model.trees + 1)).sum(axis=1)
    node, other = _links(rings, trees, nodes, forest)
    graph = np.repeat(np.arange(graphs), nodes)[other >= 0]
    first = np.cumsum(nodes) - nodes
    place = Draws(seed, ORDER).permutations(nodes) - np.repeat(first, nodes)
    ends = place[first[graph] + np.stack([node, other])[:, other >= 0]]
    both = np.concatenate([ends, ends[::-1]], axis=1)[:, np.argsort(np.tile(graph, 2), kind="stable")]
    made = GraphSet.build(nodes, 2 * np.bincount(graph, minlength=graphs), both)
    found = has_cycle(made.node_ptr, made.edge_ptr, made.edge_index, made.in_degree, model.length)
    answer = Column(found.astype(np.uint8), "graph", f"1 with a cycle of {model.length} nodes", types=2)
    constant = Column(np.ones(made.num_nodes, np.float32), "node", "constant")
    return made.with_column("x", constant).with_column("y", answer)


def _links(rings: Array, trees: Array, nodes: Array, draws: Draws) -> tuple[Array, Array]:
    """Return each node and the one it is joined to: the next on its ring, none for a root, else any earlier one."""
    first, second = (np.repeat(ring, nodes) for ring in rings.T)
    node = np.arange(nodes.sum()) - np.repeat(np.cumsum(nodes) - nodes, nodes)
    earlier = draws.below(node)
    root = node < first + second + np.repeat(trees, nodes)
    around_second = first + (node - first + 1) % second
    choices = [(node + 1) % first, around_second, np.full(len(node), -1)]
    return node, np.select([node < first, node < first + second, root], choices, earlier)
