"""The generators that make a user's own datasets, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from graphtrial.core.arguments import Length, Probability, Range, Seed
from graphtrial.core.errors import GraphTrialError, UnknownNameError, did_you_mean
from graphtrial.core.spec import resolve_arguments
from graphtrial.graphs import GraphSet

MOST_GRAPHS, MOST_NODES = 10_000_000, 100_000
Sizes = Annotated[list[Annotated[int, Range(0, MOST_GRAPHS)]], Length(3)]
Nodes = Annotated[int, Range(1, MOST_NODES)]
Spread = Annotated[int, Range(0, MOST_NODES)]
Small = Annotated[int, Range(3, 31)]
"""Graphs of which all pairs of nodes are looked at with 32 bits each."""


@dataclass(frozen=True)
class Kind:
    """A generator: what makes the graphs of its arguments, its task, the protocol it is trained under by default."""

    make: Callable[..., GraphSet]
    task: str
    protocol: str | None
    encoding_replaces: bool = False

    def generate(self, arguments: Mapping[str, Any], what: str) -> GraphSet:
        """Generate the graphs of these arguments, which come from a command line, a script or a kept recipe."""
        return self.make(**resolve_arguments(self.make, arguments, what))


def kind_of(name: str) -> Kind:
    """Return the generator of that name."""
    if name not in KINDS:
        raise UnknownNameError(f"no generator called '{name}'.{did_you_mean(name, KINDS)} Known: {', '.join(KINDS)}.")
    return KINDS[name]


def _pattern(
    sizes: Sizes,
    seed: Seed,
    communities: Nodes,
    p: Probability,
    q: Probability,
    smallest: Nodes,
    largest: Nodes,
    patterns: Nodes,
    inside: Probability,
    outside: Probability,
) -> GraphSet:
    from graphtrial.datasets.generators.sbm import BlockModel, pattern_graphs

    model = BlockModel(communities, p, q, smallest, largest)
    return pattern_graphs(model, sizes, seed, patterns=patterns, inside=inside, outside=outside)


def _cluster(
    sizes: Sizes, seed: Seed, communities: Nodes, p: Probability, q: Probability, smallest: Nodes, largest: Nodes
) -> GraphSet:
    from graphtrial.datasets.generators.sbm import BlockModel, cluster_graphs

    return cluster_graphs(BlockModel(communities, p, q, smallest, largest), sum(sizes), seed)


def _cycles(
    sizes: Sizes, seed: Seed, length: Nodes, smallest: Nodes, spread: Spread, trees: Spread, longest: Nodes
) -> GraphSet:
    from graphtrial.datasets.generators.cycles import CycleModel, cycle_graphs

    return cycle_graphs(CycleModel(length, smallest, spread, trees, longest), sum(sizes), seed)


def _graph_theory(sizes: Sizes, seed: Seed, smallest: Small, largest: Small, as_published: bool) -> GraphSet:
    from graphtrial.datasets.generators.graph_theory import AS_PUBLISHED, SOUND, graph_theory_graphs

    if largest < smallest:
        raise GraphTrialError(f"the largest graphs have {largest} nodes, fewer than the smallest with {smallest}")
    kinds = largest - smallest + 1
    parts = [
        [(smallest + i, size * (i + 1) // kinds - size * i // kinds) for i in range(kinds)] for size in sizes
    ]  # as many graphs of each number of nodes, to within one
    return graph_theory_graphs(parts, seed, AS_PUBLISHED if as_published else SOUND)


def _csl(seed: Seed, nodes: Nodes, skips: Annotated[list[Nodes], Length(1)], copies: Nodes) -> GraphSet:
    from graphtrial.datasets.generators.csl import skip_link_graphs

    return skip_link_graphs(nodes, skips, copies, seed)


def _tsp(sizes: Sizes, seed: Seed, low: Nodes, high: Nodes, metric: str) -> GraphSet:
    from graphtrial.datasets.tsp import generate

    return generate(sum(sizes), low, high, seed, metric)


BALANCED = "node-classification:metric=balanced-accuracy,class_weighted=true"
KINDS = {
    "pattern": Kind(_pattern, BALANCED, "bgnn-v5/pattern"),
    "cluster": Kind(_cluster, BALANCED, "bgnn-v5/cluster"),
    "cycles": Kind(_cycles, "graph-classification", "bgnn-v5/cycles", encoding_replaces=True),
    "graph-theory": Kind(_graph_theory, "graph-theory", "bgnn-v5/graphtheoryprop"),
    "tsp": Kind(_tsp, "edge-classification", "bgnn-v5/tsp"),
    "csl": Kind(_csl, "graph-classification", "bgnn-v5/csl", encoding_replaces=True),
}
