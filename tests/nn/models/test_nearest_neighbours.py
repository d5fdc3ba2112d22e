"""The nearest-neighbour heuristic of TSP."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import load
from graphtrial.graphs import GraphBatch, GraphSet
from graphtrial.nn import build_model
from graphtrial.nn.models.nearest_neighbours import NearestNeighbours, is_near
from graphtrial.nn.shapes import Shapes
from graphtrial.tasks import EdgeClassification

SHAPES = Shapes(outputs=2, level="edge", node_dim=2, edge_dim=1)


@pytest.fixture
def graphs(clean_environment: None) -> GraphSet:
    return load("tsp-small").graphs


@pytest.mark.parametrize("k", [1, 2, 5])
def test_nearest_neighbours_match_sorting(graphs: GraphSet, k: int) -> None:
    batch = GraphBatch.from_set(graphs, [3, 7])
    near = is_near(batch, k).numpy()
    source, distance = batch.edge_index[0].numpy(), batch.edge_attr[:, 0].numpy()
    for node in range(batch.num_nodes):
        out = np.flatnonzero(source == node)
        assert set(out[near[out]]) == set(out[np.argsort(distance[out], kind="stable")[:k]])


def test_score_is_near_the_published_one(graphs: GraphSet) -> None:
    # 0.693 for 50 to 500 points (Dwivedi et al., section C.7); small instances have more border, and a little less.
    batch = GraphBatch.from_set(graphs, np.arange(len(graphs)))
    message = NearestNeighbours(SHAPES)(batch).detach()
    score = EdgeClassification().score(message, batch.y)
    assert score == pytest.approx(f1_score(batch.y, message.argmax(dim=1)))
    assert score == pytest.approx(0.683, abs=0.002)


def test_training_changes_confidence_but_no_prediction(graphs: GraphSet) -> None:
    model, task, batch = NearestNeighbours(SHAPES), EdgeClassification(), GraphBatch.from_set(graphs, range(8))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
    first = model(batch).detach()
    before = float(task.loss(first, batch.y))
    for _ in range(30):
        optimiser.zero_grad()
        task.loss(model(batch), batch.y).backward()
        optimiser.step()
    last = model(batch).detach()
    assert float(task.loss(last, batch.y)) < before
    assert torch.equal(first.argmax(dim=1), last.argmax(dim=1))


def test_other_tasks_raise() -> None:
    for shapes in (Shapes(outputs=2, level="graph", edge_dim=1), Shapes(outputs=2, level="edge", edge_types=4)):
        with pytest.raises(GraphTrialError, match="edges with a distance"):
            NearestNeighbours(shapes)
    with pytest.raises(GraphTrialError, match="integer from 1"):
        build_model("nearest-neighbours", SHAPES, {"k": 0})
