"""Link prediction on graphs of one's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import Dataset, custom
from graphtrial.graphs import GraphSet

EDGES = [*nx.gnm_random_graph(40, 200, seed=0).edges()]
TIME = [(7 * i) % 200 for i in range(200)]


@pytest.fixture
def name(own_home: Path) -> Iterator[str]:
    yield "own-links"
    custom.delete("own-links")


def edge_list(folder: Path, *, time: bool) -> Path:
    path = folder / "net.edgelist"
    lines = [f"n{a} n{b}{f' {t}' if time else ''}" for (a, b), t in zip(EDGES, TIME, strict=True)]
    path.write_text("# source target time\n" + "\n".join(lines))
    return path


def json_lines(folder: Path, *, time: bool) -> Path:
    path = folder / "net.jsonl"
    record = {"nodes": 40, "edges": EDGES, **({"edge_time": TIME} if time else {})}
    path.write_text(json.dumps(record))
    return path


def pairs(dataset: Dataset, part: str, linked: int) -> set[frozenset[int]]:
    ids = getattr(dataset.splits[0], part)
    columns = (np.asarray(dataset.graphs.column(key).values)[ids] for key in ("pairs", "y"))
    return {frozenset(pair) for pair, y in zip(*(column.tolist() for column in columns), strict=True) if y == linked}


@pytest.mark.parametrize(("kind", "write"), [("edgelist", edge_list), ("jsonl", json_lines)])
def test_links_are_held_out_at_random_with_fixed_negatives(kind: str, write: Any, name: str, tmp_path: Path) -> None:
    dataset = custom.import_files(name, kind, [write(tmp_path, time=False)], task="link-prediction:metric=roc-auc")
    assert [len(pairs(dataset, part, 1)) for part in ("train", "val", "test")] == [170, 10, 20]
    assert [len(pairs(dataset, part, 0)) for part in ("train", "val", "test")] == [0, 10, 20]
    assert dataset.graphs.num_edges == 340
    assert (dataset.task.metric.title, dataset.spec.protocol) == ("ROC-AUC", "wikics/links")


@pytest.mark.parametrize(("kind", "write"), [("edgelist", edge_list), ("jsonl", json_lines)])
def test_the_latest_links_are_held_out_by_time(kind: str, write: Any, name: str, tmp_path: Path) -> None:
    split = {"shares": [0.7, 0.1, 0.2], "time": "edge_time"}
    dataset = custom.import_files(name, kind, [write(tmp_path, time=True)], task="link-prediction", split=split)
    number: dict[int, int] = {}
    for node in (node for edge in EDGES for node in edge):
        number.setdefault(node, len(number) if kind == "edgelist" else node)
    time_of = {frozenset(number[node] for node in edge): time for edge, time in zip(EDGES, TIME, strict=True)}
    times = {part: {time_of[pair] for pair in pairs(dataset, part, 1)} for part in ("train", "val", "test")}
    assert times == {"train": {*range(140)}, "val": {*range(140, 160)}, "test": {*range(160, 200)}}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": {"folds": 4, "seed": 0}, "task": "link-prediction"}, "not in folds"),
        ({"split": {"shares": [0.5, 0.3, 0.3], "seed": 0}, "task": "link-prediction"}, "sum to 1"),
        ({"split": {"shares": [0.8, 0.1, 0.1], "time": "x"}, "task": "link-prediction"}, "no time of edges"),
        ({"split": {"shares": [0.8, 0.1, 0.1], "time": "year"}, "task": "link-prediction"}, "no column 'year'"),
        ({"split": {"shares": [0.8, 0.1, 0.1], "time": "x"}, "task": "node-classification"}, "--task link-prediction"),
        ({}, "no targets"),
    ],
)
def test_a_split_of_links_that_cannot_be_drawn_is_one_line(
    options: dict[str, Any], message: str, tmp_path: Path, own_home: Path
) -> None:
    with pytest.raises(GraphTrialError, match=message):
        custom.import_files("never", "edgelist", [edge_list(tmp_path, time=False)], **options)
    assert "never" not in custom.names()


@pytest.mark.parametrize("lines", ["a b 1\nb c\n", "a b\nb c 1\n", "a b soon\n", "a b nan\n", "a\n", "a b 1 2\n"])
def test_an_invalid_edge_list_names_the_line(lines: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.edgelist"
    path.write_text(lines)
    with pytest.raises(GraphTrialError, match=r"bad.edgelist, line [12]: "):
        custom.import_files("never", "edgelist", [path], task="link-prediction")


def test_several_graphs_have_no_links_to_hold_out() -> None:
    graphs = GraphSet.build([2, 2], [1, 1], [[0, 0], [1, 1]])
    with pytest.raises(GraphTrialError, match="single graph"):
        custom.import_graphs("never", graphs, task="link-prediction")
