"""Comparison of statistics with the published ones."""

from __future__ import annotations

import numpy as np
import pytest

from graphtrial.datasets.base import Split
from graphtrial.datasets.statistics import Difference, Statistics, compare
from graphtrial.graphs import Column, GraphSet

SPLIT = Split(np.arange(50), np.arange(50, 75), np.arange(75, 100))


def some_graphs(mean: int) -> GraphSet:
    nodes = np.full(100, mean) + np.tile([-2, 2], 50)
    columns = {"x": Column(np.zeros(nodes.sum(), np.uint8), "node", types=3)}
    return GraphSet.build(nodes, np.zeros(100, int), np.zeros((2, 0), int), columns)


def wrong(published: Statistics, exact: bool, mean: int = 20) -> list[str]:
    return [row["what"] for row in compare(published, some_graphs(mean), [SPLIT], exact) if not row["agrees"]]


def test_exact_data_must_round_to_the_published_digits() -> None:
    assert wrong(Statistics(100, 20.0, 0.0), exact=True) == []
    assert wrong(Statistics(100, 20.04, 0.0), exact=True) == ["nodes"]
    assert wrong(Statistics(101, 20.0, 0.0), exact=True) == ["graphs"]


@pytest.mark.parametrize(("published", "expected"), [(20.7, []), (19.3, []), (20.9, ["nodes"]), (19.1, ["nodes"])])
def test_synthetic_data_must_be_within_four_standard_errors(published: float, expected: list[str]) -> None:
    # The standard deviation is 2, the standard error of 100 graphs 0.2, four of them 0.8.
    assert wrong(Statistics(100, published, 0.0), exact=False) == expected


def test_types_classes_and_split_sizes_must_be_equal() -> None:
    assert wrong(Statistics(100, 20.0, 0.0, node_types=3, split=(50, 25, 25)), exact=True) == []
    facts = Statistics(100, 20.0, 0.0, node_types=4, edge_types=1, classes=2, split=(60, 20, 20))
    assert wrong(facts, exact=False) == ["node_types", "edge_types", "classes", "split"]


def test_undirected_edge_count_includes_self_loops_once() -> None:
    ends = np.array([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 2, 0]])
    graphs = GraphSet.build([3], [6], ends)
    split = [Split(np.array([0]), np.array([], int), np.array([], int))]
    assert compare(Statistics(1, 3, 4, undirected=True), graphs, split, True)[2]["agrees"]
    assert compare(Statistics(1, 3, 6), graphs, split, True)[2]["agrees"]


@pytest.mark.parametrize("exact", [True, False])
def test_only_documented_differences_are_explained(exact: bool) -> None:
    def facts(ours: float) -> Statistics:
        return Statistics(100, 33.0, 0.0, node_types=9, differences={
            "nodes": Difference(ours, "a misprint"), "node_types": Difference(3, "six never occur"),
        })  # fmt: skip

    rows = compare(facts(20.0), some_graphs(20), [SPLIT], exact)
    assert [row["what"] for row in rows if not row["agrees"]] == []
    assert {row["what"]: row["reason"] for row in rows if "reason" in row} == {
        "nodes": "a misprint",
        "node_types": "six never occur",
    }
    assert wrong(facts(25.0), exact) == ["nodes"]
    assert "reason" not in compare(Statistics(100, 20.0, 0.0), some_graphs(20), [SPLIT], exact)[1]
