"""Contestants of the training workloads: GraphTrial's training loop, and a PyG training loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.entries import BATCH, BY_NAME
from benchmarks.machine import cores, pin_to_one_core, reset_peak
from benchmarks.protocol import SkipError, Tick

LEARNING_RATE = 1e-3
FOREVER = 1e6
"""Hours that no benchmark takes."""


def graphtrial(
    ready: Callable[..., None],
    tick: Tick,
    workload: str,
    model: str,
    graphs: int,
    batch: int = BATCH,
    every_core: bool = False,
    **size: Any,
) -> None:
    """Train by `graphtrial.training.trainer.train`; a repetition is one epoch.

    Seconds are those recorded by the loop: training on `graphs` graphs and validation on one. On one core, or
    with a thread on `every_core`.
    """
    threads = _use_cores(every_core)
    from benchmarks.data import graphs_for
    from graphtrial.core.errors import GraphTrialError
    from graphtrial.core.hardware.compute import Compute
    from graphtrial.nn import MODELS, Shapes, build_model, count_parameters, resolve_settings
    from graphtrial.tasks import GraphRegression
    from graphtrial.training.batches import Job
    from graphtrial.training.optim.optimizers.adam import Adam
    from graphtrial.training.optim.stopping.max_hours import MaxHours
    from graphtrial.training.rules import TrainingRules
    from graphtrial.training.trainer import train

    if model not in MODELS:
        raise SkipError("not in the registry")
    task = GraphRegression()
    try:
        settings = resolve_settings(model, _settings(model, workload))
    except GraphTrialError as error:
        raise SkipError(str(error)) from None
    _use_cores(every_core)
    ready()
    data, ids = graphs_for(workload, graphs, **size)
    reset_peak()
    rest = np.setdiff1d(np.arange(len(data)), ids)[:1]
    shapes = Shapes.of(data, task)
    parameters = count_parameters(build_model(model, shapes, settings))
    job = Job(
        graphs=data,
        train_ids=ids,
        val_ids=rest,
        test_ids=rest,
        task=task,
        build=lambda: build_model(model, shapes, settings),
        rules=TrainingRules(batch_size=batch, optimizer=Adam(lr=LEARNING_RATE), stopping=(MaxHours(FOREVER),)),
        seed=1,
    )
    compute = Compute("cpu", threads=threads)
    train(job, None, lambda epoch: tick(epoch.seconds, epoch.train_loss, parameters=parameters), compute)
    raise SkipError("the training ended by itself, perhaps because memory ran out")


def registry(ready: Callable[..., None], tick: Tick) -> None:
    """Report the names of the registered models."""
    from graphtrial.nn import MODELS

    ready()
    tick(0.0, 0.0, models=MODELS.names())


def pyg(
    ready: Callable[..., None],
    tick: Tick,
    workload: str,
    model: str,
    graphs: int,
    batch: int = BATCH,
    every_core: bool = False,
    **size: Any,
) -> None:
    """Train the PyG baseline: a list of `Data` objects, `DataLoader` (not for single graphs), Adam."""
    torch.set_num_threads(_use_cores(every_core))
    twin = twin_class()
    from torch_geometric.loader import DataLoader

    from benchmarks.data import graphs_for

    _use_cores(every_core)
    ready()
    data, ids = graphs_for(workload, graphs, **size)
    batches = DataLoader(as_data(data, ids), batch_size=batch, shuffle=True)
    torch.manual_seed(1)
    network = build_twin(twin, model, workload, data)
    del data
    reset_peak()
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    parameters = sum(p.numel() for p in network.parameters())
    whole = list(batches) if workload == "wiki" else batches
    while True:
        start = time.perf_counter()
        loss = pyg_epoch(network, optimizer, whole)
        tick(time.perf_counter() - start, loss, parameters=parameters)


def pyg_epoch(model: nn.Module, optimizer: torch.optim.Optimizer, batches: Iterable[Any]) -> float:
    """Train for one epoch, as in PyG's examples, and return the mean loss over graphs."""
    model.train()
    total, examples = 0.0, 0
    for data in batches:
        optimizer.zero_grad()
        loss = nn.functional.l1_loss(model(data).squeeze(-1), data.y)
        loss.backward()
        optimizer.step()
        total += loss.item() * data.num_graphs
        examples += data.num_graphs
    return total / examples


@torch.no_grad()
def pyg_test(model: nn.Module, batches: Iterable[Any]) -> float:
    """Return the mean absolute error over graphs."""
    model.eval()
    total, examples = 0.0, 0
    for data in batches:
        total += (model(data).squeeze(-1) - data.y).abs().sum().item()
        examples += data.num_graphs
    return total / examples


def machine_graphtrial(ready: Callable[..., None], tick: Tick, model: str, seeds: int, epochs: int) -> None:
    """Run several seeds on ZINC with the process executor, one worker per core."""
    import tempfile
    from pathlib import Path

    from graphtrial.execution import run_trials
    from graphtrial.studies import ModelEntry, Study
    from graphtrial.trials import Store

    rows = (ModelEntry(model, _settings(model, "zinc")),)
    ready()
    while True:
        with tempfile.TemporaryDirectory(prefix="graphtrial-bench-") as folder:
            start = time.perf_counter()
            store = Store(Path(folder) / "store.sqlite")
            trials = Study(model, "zinc", rows, seeds=seeds, rules={"stopping.max_epochs": epochs}).trials()
            run_trials(trials, store, workers=len(cores()))
            seconds = time.perf_counter() - start
            records = store.trials([trial.id for trial in trials])
            unfinished = [record.error or record.status for record in records if not record.is_finished]
        if unfinished or len(records) != seeds:
            raise SkipError(f"a trial did not finish: {unfinished or records}")
        tick(seconds, float(np.mean([record.scores["train"] for record in records])))


def machine_pyg(ready: Callable[..., None], tick: Tick, model: str, seeds: int, epochs: int) -> None:
    """Train several seeds on ZINC sequentially with all threads, with the same validation and test passes."""
    torch.set_num_threads(len(cores()))
    twin = twin_class()
    from torch_geometric.loader import DataLoader

    from graphtrial.datasets import load

    ready()
    dataset = load("zinc")
    parts = {name: as_data(dataset.graphs, ids) for name, ids in dataset.splits[0].parts.items()}
    while True:
        start, scores = time.perf_counter(), []
        for seed in range(seeds):
            torch.manual_seed(seed)
            network = build_twin(twin, model, "zinc", dataset.graphs)
            optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
            loaders = {name: DataLoader(part, batch_size=BATCH) for name, part in parts.items()}
            shuffled = DataLoader(parts["train"], batch_size=BATCH, shuffle=True)
            for _ in range(epochs):
                pyg_epoch(network, optimizer, shuffled)
                pyg_test(network, loaders["val"])
            scores.append({name: pyg_test(network, loader) for name, loader in loaders.items()}["train"])
        tick(time.perf_counter() - start, float(np.mean(scores)))


def as_data(graphs: Any, ids: Any) -> list[Any]:
    """Return graphs as a list of PyG `Data` objects."""
    from graphtrial.graphs import to_pyg

    return to_pyg(graphs.subset(ids))


def build_twin(twin: Callable[..., nn.Module], model: str, workload: str, graphs: Any) -> nn.Module:
    """Build the PyG baseline of a model for these graphs."""
    column = graphs.column("x")
    dims = {"node_types": column.types} if column.types else {"node_dim": column.width}
    return twin(model, _settings(model, workload)["width"], **dims)


def twin_class() -> Callable[..., nn.Module]:
    """Return the class of PyG twins; skip if PyG is not installed."""
    try:
        from benchmarks.twins import Twin
    except ImportError as error:
        raise SkipError(f"PyG is not installed ({error})") from None
    return Twin


def _use_cores(every: bool) -> int:
    """Pin the process to one core unless it may use `every` core; return the number of threads."""
    if not every:
        pin_to_one_core()
    return len(cores())


def _settings(model: str, workload: str) -> dict[str, Any]:
    entry = BY_NAME[model]
    width = entry.width("zinc" if workload == "molecules" else workload)
    return {**entry.settings, "width": width, "layers": entry.layers}
