"""The generators that make a user's own datasets, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from graphtrial.errors import UnknownNameError, did_you_mean
from graphtrial.graphs import GraphSet


@dataclass(frozen=True)
class Kind:
    """A generator: what makes the graphs of its arguments, its task, the protocol it is trained under by default."""

    make: Callable[..., GraphSet]
    task: str
    protocol: str | None
    encoding_replaces: bool = False


def kind_of(name: str) -> Kind:
    """Return the generator of that name."""
    if name not in KINDS:
        raise UnknownNameError(f"no generator called '{name}'.{did_you_mean(name, KINDS)} Known: {', '.join(KINDS)}.")
    return KINDS[name]


def _pattern(sizes: list[int], seed: int, patterns: int, inside: float, outside: float, **model: Any) -> GraphSet:
    from graphtrial.datasets.generators.sbm import BlockModel, pattern_graphs

    return pattern_graphs(BlockModel(**model), sizes, seed, patterns=patterns, inside=inside, outside=outside)


def _cluster(sizes: list[int], seed: int, **model: Any) -> GraphSet:
    from graphtrial.datasets.generators.sbm import BlockModel, cluster_graphs

    return cluster_graphs(BlockModel(**model), sum(sizes), seed)


def _cycles(sizes: list[int], seed: int, **model: Any) -> GraphSet:
    from graphtrial.datasets.generators.cycles import CycleModel, cycle_graphs

    return cycle_graphs(CycleModel(**model), sum(sizes), seed)


def _graph_theory(sizes: list[int], seed: int, smallest: int, largest: int, as_published: bool) -> GraphSet:
    from graphtrial.datasets.generators.graph_theory import AS_PUBLISHED, SOUND, graph_theory_graphs

    kinds = largest - smallest + 1
    parts = [
        [(smallest + i, size * (i + 1) // kinds - size * i // kinds) for i in range(kinds)] for size in sizes
    ]  # as many graphs of each number of nodes, to within one
    return graph_theory_graphs(parts, seed, AS_PUBLISHED if as_published else SOUND)


def _csl(seed: int, nodes: int, skips: list[int], copies: int) -> GraphSet:
    from graphtrial.datasets.generators.skips import skip_link_graphs

    return skip_link_graphs(nodes, skips, copies, seed)


def _tsp(sizes: list[int], seed: int, low: int, high: int, metric: str) -> GraphSet:
    from graphtrial.datasets.tsp import generate

    return generate(sum(sizes), low, high, seed, metric)


KINDS = {
    "pattern": Kind(_pattern, "balanced-node-classification", "bgnn-v5/pattern"),
    "cluster": Kind(_cluster, "balanced-node-classification", "bgnn-v5/cluster"),
    "cycles": Kind(_cycles, "graph-classification", "bgnn-v5/cycles", encoding_replaces=True),
    "graph-theory": Kind(_graph_theory, "graph-theory", "bgnn-v5/graphtheoryprop"),
    "tsp": Kind(_tsp, "edge-classification", "bgnn-v5/tsp"),
    "csl": Kind(_csl, "graph-classification", "bgnn-v5/csl", encoding_replaces=True),
}
