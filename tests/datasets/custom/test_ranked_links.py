"""Links that are ranked among candidates of their own: imports, trainings, and data that are refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.helpers.cli import CliRunner

import graphtrial as gt
from graphtrial.cli.main import app
from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import Dataset, custom
from graphtrial.graphs import Column, GraphSet

NODES = 40


@pytest.fixture
def name(own_home: Path) -> Iterator[str]:
    yield "ranked"
    if "ranked" in custom.names():
        custom.delete("ranked")


def cited(**changed: Any) -> GraphSet:
    """Directed links to the next nodes of a ring, three negatives for each link of val and test."""
    source = np.arange(NODES)
    links = [np.stack([source, (source + step) % NODES], axis=1) for step in (1, 2, 3)]
    negatives = [np.stack([np.repeat(source, 3), (np.repeat(source, 3) + 7 * np.tile([1, 2, 3], NODES)) % NODES], 1)] * 2
    rows = [(0, 1, links[0]), *((part, y, [negatives, links][y][part - y + y]) for part in (1, 2) for y in (1, 0))]
    rows = [(0, 1, links[0]), (1, 1, links[1]), (1, 0, negatives[0]), (2, 1, links[2]), (2, 0, negatives[1])]
    sizes = [len(pairs) for _, _, pairs in rows]
    query = np.concatenate([source if y else np.repeat(source, 3) for _, y, _ in rows])
    position = 2 * np.pi * source / NODES
    columns = {
        "x": Column(np.stack([np.sin(position), np.cos(position)], 1).astype(np.float32), "node"),
        "pairs": Column(np.concatenate([pairs for *_, pairs in rows]), "pair"),
        "y": Column(np.repeat([y for _, y, _ in rows], sizes), "pair", types=2),
        "part": Column(np.repeat([part for part, *_ in rows], sizes).astype(np.uint8), "pair", types=4),
        "query": Column(query, "pair"),
        **changed,
    }
    return GraphSet.build([NODES], [NODES], links[0].T, {key: value for key, value in columns.items() if value})


def contacts(**changed: Any) -> GraphSet:
    """Rings whose opposite nodes are linked, 10 / 5 / 5 graphs."""
    sizes = np.array([6, 8] * 10)
    edges = np.concatenate([[np.arange(n), (np.arange(n) + 1) % n] for n in sizes], axis=1)
    links = [np.stack([np.arange(n), (np.arange(n) + n // 2) % n], axis=1) for n in sizes]
    others = [np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1) for n in sizes]
    angle = [2 * np.pi * np.arange(n) / n for n in sizes]
    columns = {
        "x": Column(np.concatenate([np.stack([np.sin(a), np.cos(a)], 1) for a in angle]).astype(np.float32), "node"),
        "pairs": Column(np.concatenate([np.concatenate(pair) for pair in zip(links, others, strict=True)]), "pair"),
        "y": Column(np.concatenate([np.repeat([1, 0], n) for n in sizes]), "pair", types=2),
        "pair_count": Column(2 * sizes, "graph"),
        "part": Column(np.repeat([0, 1, 2], [10, 5, 5]).astype(np.uint8), "graph", types=4),
        **changed,
    }
    return GraphSet.build(sizes, sizes, edges, {key: value for key, value in columns.items() if value})


@pytest.mark.parametrize(("graphs", "level", "sizes"), [(cited(), "pair", (40, 160, 160)), (contacts(), "graph", (10, 5, 5))])
def test_training_of_gcn_and_mlp(graphs: GraphSet, level: str, sizes: tuple[int, ...], name: str, tmp_path: Path) -> None:
    dataset = custom.import_graphs(name, graphs)
    assert (dataset.task.name, dataset.task.metric.title) == ("link-ranking", "MRR")
    assert (dataset.spec.split_level, dataset.splits[0].sizes) == (level, sizes)
    store = str(tmp_path / "s.sqlite")
    options = {"settings": {"width": 16, "layers": 2}, "seeds": 2, "max_epochs": 30, "store": store}
    for model in ("gcn", "mlp"):
        for row in gt.run(name, model, **options):
            assert row.higher_is_better
            assert set(row.extra_metrics) == {"Hits@1", "Hits@3", "Hits@10"}
            assert 0.3 < row.test.mean <= 1


