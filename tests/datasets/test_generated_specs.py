"""Declarations of the generated datasets."""

from __future__ import annotations

import numpy as np
import pytest

from graphtrial.datasets import DATASETS, Statistics, load
from graphtrial.datasets.base import published_name
from graphtrial.datasets.statistics import compare, standard_error
from graphtrial.graphs import Column, GraphSet


def test_grouped_graphs_count_as_one_sample() -> None:
    counts, groups = np.repeat([10, 20, 30, 40], 25), np.repeat(np.arange(4), 25)
    assert standard_error(counts) == pytest.approx(np.std([10, 20, 30, 40]) / 10)
    assert standard_error(counts, groups) == pytest.approx(np.std([10, 20, 30, 40]) / 2)


def test_statistics_use_the_declared_groups() -> None:
    nodes = np.repeat([10, 20, 30, 40], 25)
    graphs = GraphSet.build(nodes, [0] * 100, np.zeros((2, 0), int))
    graphs = graphs.with_column("shared", Column(np.repeat(np.arange(4), 25), "graph", types=4))
    alone = compare(Statistics(100, 35.0, 0.0), graphs, [], exact=False)
    batched = compare(Statistics(100, 35.0, 0.0, grouped_by="shared"), graphs, [], exact=False)
    assert [row["agrees"] for row in alone if row["what"] == "nodes"] == [False]
    assert [row["agrees"] for row in batched if row["what"] == "nodes"] == [True]


@pytest.mark.parametrize("size", [200, 500, 1000, 5000])
def test_smaller_cycles_training_sets_are_balanced_prefixes(size: int) -> None:
    whole, smaller = load("cycles"), load(f"cycles-{size}")
    assert published_name(smaller.name) == "cycles"
    assert smaller.graphs.content_hash == whole.graphs.content_hash
    assert smaller.splits[0].train.tolist() == list(range(size))
    assert smaller.graphs.column("y").values[:size].sum() == size // 2
    assert smaller.splits[0].test.tolist() == whole.splits[0].test.tolist()


def test_published_names_are_mapped() -> None:
    assert published_name("graphtheoryprop-as-published") == "graphtheoryprop"
    assert published_name("csl") == "csl"
    assert published_name("nobody-knows-it") == "nobody-knows-it"
    assert DATASETS.get("pattern").large
