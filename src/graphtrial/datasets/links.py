"""Link prediction on any node classification graph: `cora+links`, `wikics+links-hard`, `wikics+links-10000`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError, UnknownNameError
from graphtrial.datasets.base import DATASETS, DatasetSpec, Source, Split
from graphtrial.datasets.generators.draws import Draws
from graphtrial.graphs import Column, GraphSet
from graphtrial.graphs.column import PAIRS
from graphtrial.tasks import LinkPrediction

Array = npt.NDArray[Any]
VAL, TEST = 0.05, 0.10
VERSION = 1
ROUNDS = 200
TRAIN_PART, VAL_PART, TEST_PART, POOL_PART = range(4)
NAME = re.compile(r"([^+:]+)\+links(-hard)?(?:-([1-9]\d{0,8}))?", re.ASCII)


class Links(DatasetSpec):
    """Link prediction: classify held-out links against negative pairs.

    5 % of the undirected edges are for validation and 10 % for test, each with as many negative pairs; the graph
    contains the other 85 %, which are the training positives, in both directions. pairs, y: the pairs of all splits.
    """

    base: ClassVar[type[DatasetSpec]]
    hard: ClassVar[bool] = False
    examples: ClassVar[int | None] = None
    task = LinkPrediction(metric="roc-auc", extra_metrics=["average-precision"])
    split_level = "pair"
    seed: ClassVar[int] = 0

    def parse(self, source: Source, raw: Mapping[str, Path]) -> GraphSet:
        graphs = self.base().parse(source, raw)
        if len(graphs) != 1:
            raise GraphTrialError(f"links are predicted in a single graph; {self.base.name} has {len(graphs)}")
        return hide_links(graphs, hard=self.hard, examples=self.examples, seed=self.seed)

    def split(self, graphs: GraphSet, source: Source, raw: Mapping[str, Path]) -> Sequence[Split]:
        part = np.asarray(graphs.column("part").values)
        return [Split(*(np.flatnonzero(part == number) for number in (TRAIN_PART, VAL_PART, TEST_PART)))]


def hide_links(
    graphs: GraphSet,
    *,
    hard: bool = False,
    examples: int | None = None,
    seed: int,
    val: float = VAL,
    test: float = TEST,
    time: Array | None = None,
) -> GraphSet:
    """Return the graph with its training links, and labelled train, val and test pairs.

    The fractions `val` and `test` of the links are drawn at random or, where `time` [edges] is given, are the latest
    ones by their first occurrence. Negative pairs are uniform or, if `hard`, of the same class and with a common
    neighbour. `examples` limits the number of training links. If `hard` or with `examples`, training samples negatives
    from a fixed pool, as many as there are training links, which is in no split.
    """
    nodes = graphs.num_nodes
    one, other = graphs.edge_index.astype(np.int64)
    keys = _keys(one, other, nodes)
    proper = keys // nodes != keys % nodes
    edge_keys, keys = keys[proper], np.unique(keys[proper])
    fewest = -int(-1 // min(val, test))
    if len(keys) < fewest:
        raise GraphTrialError(f"{len(keys)} links are too few to hold some out: {fewest} are needed")
    sizes = [int(val * len(keys)), int(test * len(keys))]
    if time is None:
        shuffled = keys[Draws(seed, 0).permutation(len(keys))]
        val_links, test_links, train = np.split(shuffled, np.cumsum(sizes))
    else:
        ordered = _latest_first(edge_keys, keys, np.asarray(time)[proper])
        test_links, val_links, train = np.split(ordered, np.cumsum(sizes[::-1]))
    train = train[:examples]
    pool_size = len(train) if hard or examples is not None else 0
    draw = _hard_pairs(graphs, keys, Draws(seed, 2)) if hard else _uniform_pairs(nodes, Draws(seed, 1))
    negatives = _sample_negatives(draw, keys, sum(sizes) + pool_size)
    val_negatives, test_negatives, pool = np.split(negatives, np.cumsum(sizes))
    parts = (
        (np.sort(train), 1, TRAIN_PART, True),
        (np.sort(val_links), 1, VAL_PART, False),
        (val_negatives, 0, VAL_PART, False),
        (np.sort(test_links), 1, TEST_PART, False),
        (test_negatives, 0, TEST_PART, False),
        (pool, 0, POOL_PART, True),
    )
    pairs, linked, part = [], [], []
    for chosen, value, number, both_orders in parts:
        ends = np.stack([chosen // nodes, chosen % nodes], axis=1)
        ends = np.concatenate([ends, ends[:, ::-1]]) if both_orders else ends
        pairs.append(ends)
        linked.append(np.full(len(ends), value, np.uint8))
        part.append(np.full(len(ends), number, np.uint8))
    columns = {name: column for name, column in graphs.columns.items() if column.level == "node" and name != "y"}
    columns |= {
        PAIRS: Column(np.concatenate(pairs).astype(np.int32), "pair", "two nodes"),
        "y": Column(np.concatenate(linked), "pair", "whether they are linked", types=2),
        "part": Column(np.concatenate(part), "pair", "train, val, test, or drawn from while training", types=4),
    }
    return GraphSet.build([nodes], [2 * len(train)], pairs[0].T, columns)


def _keys(one: Array, other: Array, nodes: int) -> Array:
    """Return a unique key of each unordered pair."""
    return np.minimum(one, other) * nodes + np.maximum(one, other)


def _latest_first(edges: Array, links: Array, time: Array) -> Array:
    """Return the links by the time of their first edge, the latest first."""
    first = np.full(len(links), np.inf)
    np.minimum.at(first, np.searchsorted(links, edges), time.astype(np.float64))
    return links[np.lexsort((links, first))[::-1]]


def _uniform_pairs(nodes: int, draws: Draws) -> Callable[[int], Array]:
    def draw(count: int) -> Array:
        one, other = draws.below(np.full((2, count), nodes))
        return _keys(one[one != other], other[one != other], nodes)

    return draw


def _hard_pairs(graphs: GraphSet, links: Array, draws: Draws) -> Callable[[int], Array]:
    """Sample paths of length two whose end nodes have the same class, uniformly."""
    nodes = graphs.num_nodes
    ends = np.stack([links // nodes, links % nodes])
    source, target = np.concatenate([ends, ends[::-1]], axis=1)
    order = np.lexsort((target, source))
    source, target = source[order], target[order]
    degree = np.bincount(source, minlength=nodes)
    start = np.cumsum(degree) - degree
    y = graphs.columns.get("y")
    if y is None or y.level != "node" or y.types is None:
        raise GraphTrialError("hard pairs have nodes of one class, but this graph has no classes of nodes")
    classes = np.asarray(y.values).reshape(-1)

    def draw(count: int) -> Array:
        step = draws.below(np.full(count, len(source)))
        middle, one = target[step], source[step]
        other = target[start[middle] + draws.below(degree[middle])]
        fits = (one != other) & (classes[one] == classes[other])
        return _keys(one[fits], other[fits], nodes)

    return draw


def _sample_negatives(draw: Callable[[int], Array], links: Array, count: int) -> Array:
    """Sample `count` distinct pairs that are not linked, in order of first occurrence."""
    sample = np.zeros(0, np.int64)
    for _ in range(ROUNDS):
        if len(sample) >= count:
            return sample[:count]
        new = draw(2 * count)
        sample = np.concatenate([sample, new[~np.isin(new, links)]])
        sample = sample[np.sort(np.unique(sample, return_index=True)[1])]
    raise GraphTrialError(
        f"only {len(sample)} of {count} negative pairs were sampled in {ROUNDS} rounds; the graph has too few"
    )


@cache
def link_dataset(base: type[DatasetSpec], hard: bool, examples: int | None) -> type[Links]:
    """Return the link prediction dataset of a node classification dataset; cached."""
    suffix = "-hard" * hard + (f"-{examples}" if examples is not None else "")
    how = "pairs of one class and two steps apart" if hard else "other pairs"
    few = f", from {examples:,} of them" if examples is not None else ""
    members = {
        "__doc__": f"The links of {base.name}: classify held-out ones against {how}{few}.",
        "__module__": __name__,
        "name": f"{base.name}+links{suffix}",
        "base": base,
        "hard": hard,
        "examples": examples,
        "domain": base.domain,
        "licence": base.licence,
        "paper": base.paper,
        "sources": base.sources,
        "notes": base.notes,
        "parser_version": 100 * base.parser_version + VERSION,
        "protocol": "wikics/links",
        "splits_complete": not hard and examples is None,
        "large": base.large,
    }
    return type(re.sub(r"\W", "_", f"Links_{base.name}{suffix}"), (Links,), members)


def find(name: str) -> type[Links] | None:
    """Resolve a name such as `cora+links`, `cora+links-hard` or `cora+links-1000`; None for others."""
    parts = NAME.fullmatch(name)
    if parts is None:
        return None
    try:
        base = DATASETS.get(parts[1])
    except UnknownNameError:
        return None
    if base.split_level != "node":
        return None
    return link_dataset(base, parts[2] is not None, int(parts[3]) if parts[3] else None)


def title_of(name: str) -> str | None:
    """Return the display name, such as `Cora, hard links, 1,000 examples`."""
    parts = NAME.fullmatch(name)
    if parts is None:
        return None
    few = f", {int(parts[3]):,} examples" if parts[3] else ""
    return f"{DATASETS.title(parts[1])}, {'hard ' if parts[2] else ''}links{few}"


DATASETS.add_resolver(find, title=title_of)
