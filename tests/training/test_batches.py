"""Training on the nodes and on the pairs of a single graph, and by accumulated gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import Column, GraphBatch, GraphSet, Loader
from graphtrial.graphs.loader import AccumulatingLoader
from graphtrial.nn import Shapes, build_model
from graphtrial.tasks import LinkPrediction, NodeClassification, Task
from graphtrial.training.batches import Job, evaluation_batches
from graphtrial.training.rules import TrainingRules
from graphtrial.training.trainer import train


def two_groups(**columns: Column) -> GraphSet:
    """Sixty nodes in two groups that are dense inside."""
    graph = nx.stochastic_block_model([30, 30], [[0.3, 0.02], [0.02, 0.3]], seed=1)
    edges = np.array([edge for u, v in graph.edges for edge in ((u, v), (v, u))]).T
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 30)
    x = (rng.normal(size=(60, 4)) + group[:, None]).astype(np.float32)
    return GraphSet.build([60], [edges.shape[1]], edges, {"x": Column(x, "node"), **columns})


def job_on(graphs: GraphSet, task: Task, level: str, ids: np.ndarray, **rules: object) -> Job:
    shapes = Shapes.of(graphs, task)
    chosen = {"batch_size": 64, "optimizer": "adam:lr=0.01", "stopping.max_epochs": 25, **rules}
    return Job(
        graphs=graphs,
        train_ids=ids[0],
        val_ids=ids[1],
        test_ids=ids[2],
        task=task,
        build=lambda: build_model("gcn", shapes, {"width": 16, "layers": 2}),
        rules=TrainingRules.from_dict(chosen),
        seed=1,
        split_level=level,
    )


def test_transductive_training_uses_node_masks() -> None:
    graphs = two_groups(y=Column(np.repeat([0, 1], 30), "node", types=2))
    order = np.random.default_rng(2).permutation(60)
    outcome = train(job_on(graphs, NodeClassification(2), "node", [order[:20], order[20:40], order[40:]]))
    assert outcome.scores["test"] >= 90
    assert outcome.epochs[-1].train_loss < outcome.epochs[0].train_loss


def test_link_prediction_beats_chance() -> None:
    graphs = two_groups()
    rng = np.random.default_rng(3)
    links = graphs.edge_index.T[graphs.edge_index[0] < graphs.edge_index[1]]
    others = rng.integers(0, 60, (200, 2))
    pairs = np.concatenate([rng.permutation(links), others])
    y = np.concatenate([np.ones(len(links), int), np.zeros(200, int)])
    graphs = two_groups(pairs=Column(pairs, "pair"), y=Column(y, "pair", types=2))
    half, registered = len(links) // 2, len(links)
    ids = [
        np.arange(half),
        np.r_[half : half + 40, registered : registered + 100],
        np.r_[half + 40 : registered, registered + 100 : registered + 200],
    ]
    job = job_on(graphs, LinkPrediction(metric="hits@20"), "pair", ids, monitor="val_score")
    outcome = train(job)
    assert outcome.scores["test"] > 40  # by chance 20 of 100
    (scored,) = evaluation_batches(job, "train")
    assert scored.y.tolist() == [1] * half + [0] * 100  # ranked among the validation part's pairs without a link


def test_as_published_accumulation_drops_the_remainder(graphs: GraphSet) -> None:
    sizes = [batch.num_graphs for batch in AccumulatingLoader(graphs, np.arange(12), 4)]
    assert sizes == [1, 4, 4]
    assert [batch.num_graphs for batch in AccumulatingLoader(graphs, np.arange(3), 4)] == [1]
    everything = {int(i) for batch in Loader(graphs, np.arange(12), 4) for i in range(batch.num_graphs)}
    assert everything == {0, 1, 2, 3}


def test_accumulation_on_a_single_graph_raises() -> None:
    graphs = two_groups(y=Column(np.repeat([0, 1], 30), "node", types=2))
    ids = [np.arange(20), np.arange(20, 40), np.arange(40, 60)]
    with pytest.raises(GraphTrialError, match="use accumulation=1"):
        train(job_on(graphs, NodeClassification(2), "node", ids, accumulation="as-published"))


def test_extra_loss_of_a_model_is_minimised_too(make_job: Callable[..., Job]) -> None:
    class Pulled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.offset = torch.nn.Parameter(torch.ones(2))
            self.idle = torch.nn.Parameter(torch.ones(1))

        def forward(self, batch: GraphBatch) -> torch.Tensor:
            return self.offset.expand(batch.num_graphs, 2)

        def extra_loss(self) -> torch.Tensor:
            return self.idle.square().sum()

    outcome = train(replace(make_job(), build=Pulled))
    assert float(outcome.weights["idle"]) < 0.9
