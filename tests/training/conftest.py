"""A small task that trains in a second: classify triangles and squares with tails."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from graphtrial.graphs import Column, GraphSet
from graphtrial.nn import Shapes, build_model
from graphtrial.tasks import GraphClassification
from graphtrial.training.batches import Job
from graphtrial.training.rules import TrainingRules

RULES = TrainingRules.from_dict(
    {
        "batch_size": 8,
        "optimizer": "adam:lr=0.01",
        "schedule": "plateau:factor=0.5,patience=2",
        "stopping": {"min_lr": 1e-3, "max_epochs": 8},
    }
)


@pytest.fixture
def graphs() -> GraphSet:
    """Sixty rings of three or four nodes, each with a tail, and random node types."""
    rng = np.random.default_rng(0)
    nodes, edges, ends, labels = [], [], [], []
    for number in range(60):
        ring, tail = 3 + number % 2, int(rng.integers(1, 4))
        path = [(i, (i + 1) % ring) for i in range(ring)] + [(ring + i - 1, ring + i) for i in range(tail)]
        both = path + [(v, u) for u, v in path]
        nodes.append(ring + tail)
        edges.append(len(both))
        ends.extend(both)
        labels.append(number % 2)
    columns = {
        "x": Column(rng.integers(0, 3, sum(nodes)), "node", types=3),
        "edge_attr": Column(np.zeros(sum(edges), int), "edge", types=1),
        "y": Column(np.array(labels), "graph"),
    }
    return GraphSet.build(nodes, edges, np.array(ends).T, columns)


@pytest.fixture
def make_job(graphs: GraphSet) -> Callable[..., Job]:
    """Return a function that makes a job; its arguments change single rules, the model's settings and the seed."""

    def make(
        rules: dict[str, object] | None = None, *, seed: int = 1, model: str = "gin", settings: dict | None = None
    ) -> Job:
        task = GraphClassification(2)
        shapes = Shapes.of(graphs, task)
        ids = np.random.default_rng(1).permutation(60)
        return Job(
            graphs=graphs,
            train_ids=ids[:40],
            val_ids=ids[40:50],
            test_ids=ids[50:],
            task=task,
            build=lambda: build_model(model, shapes, {"width": 8, "layers": 2, "dropout": 0.2, **(settings or {})}),
            rules=RULES.changed(rules or {}),
            seed=seed,
        )

    return make
