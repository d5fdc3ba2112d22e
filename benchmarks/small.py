"""Small batches, where a step is a matter of Python more than of arithmetic: epochs beside the same models in PyG."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.machine import pin_to_one_core, reset_peak
from benchmarks.match import OURS, Match, Side
from benchmarks.protocol import SkipError, Tick

PYG = "PyG"
ALONE = "matrix products alone"
SAMPLE = 10
LEARNING_RATE = 1e-3


@dataclass(frozen=True)
class Workload:
    """A dataset, a model at the width of its paper, the batch size and the Laplacian encoding of its protocol.

    An epoch has at most `graphs` graphs.
    """

    dataset: str
    model: str
    width: int
    batch: int
    encoding: int = 0
    graphs: int = 1000
    settings: dict[str, Any] = field(default_factory=dict)


WORKLOADS = {
    "csl gcn": Workload("csl", "gcn", 146, 5, 20),
    "csl gatedgcn": Workload("csl", "gatedgcn", 70, 5, 20),
    "enzymes gin": Workload("enzymes", "gin", 110, 20),
    "cycles gin": Workload("cycles", "gin", 110, 25, 20),
    "graphtheoryprop gin": Workload("graphtheoryprop", "gin", 110, 25, 3, graphs=5120),
    "graphtheoryprop gatedgcn": Workload("graphtheoryprop", "gatedgcn", 70, 25, 3, graphs=5120),
    "proteins gin-eps": Workload("proteins+labels", "gin-eps", 64, 64, settings={"layers": 3}),
}


def matches(quick: bool) -> Iterable[Match]:
    """A training epoch in batches of 5 to 64 graphs, on one core."""
    for name in list(WORKLOADS)[:1] if quick else WORKLOADS:
        work = {"workload": name, "graphs": 20 if quick else WORKLOADS[name].graphs}
        sides = (
            Side(OURS, "benchmarks.small:graphtrial", work),
            Side(PYG, "benchmarks.small:pyg", work),
            Side(ALONE, "benchmarks.small:products", work),
        )
        yield Match(f"small/{name}", sides, 1 if quick else 5, warm_ups=1 if quick else 3)


def graphtrial(ready: Callable[..., None], tick: Tick, workload: str, graphs: int) -> None:
    """Train by the loop of every trial; a repetition is the training of an epoch and a validation on one graph."""
    pin_to_one_core()
    from graphtrial.core.hardware.compute import ONE_CORE
    from graphtrial.nn import build_model
    from graphtrial.training.batches import Job
    from graphtrial.training.optim.optimizers.adam import Adam
    from graphtrial.training.optim.stopping.max_hours import MaxHours
    from graphtrial.training.rules import TrainingRules
    from graphtrial.training.trainer import train

    ready()
    chosen = WORKLOADS[workload]
    dataset, data, encoding, shapes, ids, rest = _data(chosen, graphs)
    reset_peak()
    settings = {"width": chosen.width, **chosen.settings}
    job = Job(
        graphs=data,
        train_ids=ids,
        val_ids=rest,
        test_ids=rest,
        task=dataset.task,
        build=lambda: build_model(chosen.model, shapes, settings),
        rules=TrainingRules(chosen.batch, Adam(lr=LEARNING_RATE), (MaxHours(1e6),)),
        seed=1,
        encoding=encoding,
    )
    train(job, None, lambda epoch: tick(epoch.seconds, epoch.train_loss), ONE_CORE)
    raise SkipError("the training ended by itself")


def pyg(ready: Callable[..., None], tick: Tick, workload: str, graphs: int) -> None:
    """Train the twin as in PyG's examples: `DataLoader`, autograd, `torch.optim.Adam`."""
    pin_to_one_core()
    torch.set_num_threads(1)
    try:
        import torch_geometric  # noqa: F401
    except ImportError as error:
        raise SkipError(f"PyG is not installed ({error})") from None
    ready()
    model, batches = _twin(workload, graphs)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    reset_peak()
    while True:
        start = time.perf_counter()
        loss = _pyg_epoch(model, optimizer, batches)
        tick(time.perf_counter() - start, loss)


def products(ready: Callable[..., None], tick: Tick, workload: str, graphs: int) -> None:
    """Time the matrix products of an epoch of the twin alone, each by torch's faster way: no step can be faster.

    Those of ten batches are recorded and scaled to an epoch.
    """
    pin_to_one_core()
    torch.set_num_threads(1)
    try:
        import torch_geometric  # noqa: F401
    except ImportError as error:
        raise SkipError(f"PyG is not installed ({error})") from None
    from benchmarks.roofline import Recorder, product_seconds

    ready()
    model, batches = _twin(workload, graphs)
    sample = list(islice(batches, SAMPLE))
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    with Recorder() as recorder:
        _pyg_epoch(model, optimizer, sample)
    scale = len(batches) / len(sample)
    gflop = scale * sum(2 * m * k * n * count for (m, k, n, *_), count in recorder.counts.items()) / 1e9
    while True:
        seconds = scale * sum(count * product_seconds(product) for product, count in recorder.counts.items())
        tick(seconds, gflop)


def _twin(workload: str, graphs: int) -> tuple[nn.Module, Any]:
    """Return the model in PyG and the batches of an epoch."""
    from torch_geometric.loader import DataLoader

    from benchmarks.small_twins import GINEpsTwin, SmallTwin
    from graphtrial.graphs import to_pyg

    chosen = WORKLOADS[workload]
    _, data, _, shapes, ids, _ = _data(chosen, graphs)
    used = not (shapes.encoding_dim and shapes.encoding_replaces)
    size = {"types": shapes.node_types * used, "dim": shapes.node_dim * used}
    torch.manual_seed(1)
    model: nn.Module
    if chosen.model == "gin-eps":
        model = GINEpsTwin(chosen.width, shapes.outputs, **size, **chosen.settings)
    else:
        nodes = shapes.level == "node and graph"
        model = SmallTwin(chosen.model, chosen.width, shapes.outputs, **size, encoding=shapes.encoding_dim, nodes=nodes)
    batches = DataLoader(to_pyg(data.subset(ids)), batch_size=chosen.batch, shuffle=True)
    return model, batches


def _pyg_epoch(model: nn.Module, optimizer: torch.optim.Optimizer, batches: Iterable[Any]) -> float:
    model.train()
    total, examples = 0.0, 0
    for data in batches:
        optimizer.zero_grad()
        logits, of_nodes = model(data)
        if of_nodes is None:
            loss = F.cross_entropy(logits, data.y.flatten().long())
        else:
            loss = (F.mse_loss(of_nodes, data.node_y) + F.mse_loss(logits, data.y.view_as(logits))) / 2
        loss.backward()
        optimizer.step()
        total += loss.item() * data.num_graphs
        examples += data.num_graphs
    return total / examples


def _data(chosen: Workload, graphs: int) -> tuple[Any, ...]:
    """Return dataset, encoded graphs, encoding, shapes, the ids of training graphs and of one other graph."""
    from graphtrial.datasets import load
    from graphtrial.encodings import encode
    from graphtrial.encodings.laplacian import LaplacianPE
    from graphtrial.nn.encoder import ENCODING_COLUMN
    from graphtrial.trials.shapes import shapes_for

    dataset = load(chosen.dataset)
    encoding = LaplacianPE(chosen.encoding) if chosen.encoding else None
    data = encode(dataset.graphs, encoding, ENCODING_COLUMN) if encoding else dataset.graphs
    ids = np.asarray(dataset.splits[0].train if dataset.splits else np.arange(len(data) - 1))[:graphs]
    rest = np.setdiff1d(np.arange(len(data)), ids)[:1]
    return dataset, data, encoding, shapes_for(dataset, encoding), ids, rest
