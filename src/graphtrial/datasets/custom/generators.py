"""Generators of custom datasets by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from graphtrial.core.arguments import Length, Probability, Range, Seed
from graphtrial.core.errors import GraphTrialError, UnknownNameError, did_you_mean
from graphtrial.core.spec import resolve_arguments
from graphtrial.graphs import GraphSet

MOST_GRAPHS, MOST_NODES = 10_000_000, 100_000
Sizes = Annotated[list[Annotated[int, Range(0, MOST_GRAPHS)]], Length(3)]
Nodes = Annotated[int, Range(1, MOST_NODES)]
Spread = Annotated[int, Range(0, MOST_NODES)]
Small = Annotated[int, Range(3, 31)]
"""Number of nodes of a graph whose adjacency rows fit into 32 bits."""


@dataclass(frozen=True)
class Generator:
    """Generator of graphs: function, task, default protocol and encoding mode."""

    function: Callable[..., GraphSet]
    task: str
    protocol: str | None
    encoding_mode: Literal["add", "replace"] = "add"

    def generate(self, arguments: Mapping[str, Any], subject: str) -> GraphSet:
        """Validate the arguments, which come from a command line, script or recipe, and generate the graphs."""
        return self.function(**resolve_arguments(self.function, arguments, subject))


def get_generator(name: str) -> Generator:
    """Return a generator by name."""
    if name not in GENERATORS:
        raise UnknownNameError(
            f"no generator called '{name}'.{did_you_mean(name, GENERATORS)} Known: {', '.join(GENERATORS)}."
        )
    return GENERATORS[name]


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
    from graphtrial.datasets.generators.graph_theory import AS_PUBLISHED, CORRECTED, graph_theory_graphs

    if largest < smallest:
        raise GraphTrialError(f"the largest graphs have {largest} nodes, fewer than the smallest with {smallest}")
    count = largest - smallest + 1
    parts = [
        [(smallest + i, size * (i + 1) // count - size * i // count) for i in range(count)] for size in sizes
    ]  # equally many graphs of each size, to within one
    return graph_theory_graphs(parts, seed, AS_PUBLISHED if as_published else CORRECTED)


def _csl(seed: Seed, nodes: Nodes, skips: Annotated[list[Nodes], Length(1)], copies: Nodes) -> GraphSet:
    from graphtrial.datasets.generators.csl import skip_link_graphs

    return skip_link_graphs(nodes, skips, copies, seed)


def _tsp(sizes: Sizes, seed: Seed, low: Nodes, high: Nodes, metric: str) -> GraphSet:
    from graphtrial.datasets.tsp import generate

    return generate(sum(sizes), low, high, seed, metric)


BALANCED = "node-classification:metric=balanced-accuracy,class_weighted=true"
GENERATORS = {
    "pattern": Generator(_pattern, BALANCED, "bgnn-v5/pattern"),
    "cluster": Generator(_cluster, BALANCED, "bgnn-v5/cluster"),
    "cycles": Generator(_cycles, "graph-classification", "bgnn-v5/cycles", encoding_mode="replace"),
    "graph-theory": Generator(_graph_theory, "graph-theory", "bgnn-v5/graphtheoryprop"),
    "tsp": Generator(_tsp, "edge-classification", "bgnn-v5/tsp"),
    "csl": Generator(_csl, "graph-classification", "bgnn-v5/csl", encoding_mode="replace"),
}
