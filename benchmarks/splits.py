"""Contestants that train one model on all splits of one graph: vectorised, sequential, and with PyG."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.machine import pin_to_one_core, reset_peak
from benchmarks.match import OURS, Match, Side
from benchmarks.protocol import Tick

SEQUENTIAL = "sequential"
MODELS: dict[str, dict[str, Any]] = {
    "gcn-direct": {"width": 33, "dropout": 0.25},
    "mlp-direct": {"width": 35, "dropout": 0.35},
    "gat-direct": {"width": 70, "heads": 5, "dropout": 0.5},
    "appnp": {
        "width": 64, "dropout": 0.4, "edge_dropout": 0.4, "steps": 2, "alpha": 0.11, "self_loops": False,
    },
}  # fmt: skip
GRAPHS = ("wikics-standin-stopping", "cora", "citeseer")
VECTORIZED = ("gcn-direct", "mlp-direct")
"""Models with vectorised training."""


def matches(quick: bool) -> Iterable[Match]:
    """Yield 20 trials over splits, or over seeds where there is one split, and single trials against PyG."""
    alone, epochs, rounds = "benchmarks.splits:sequential", 2 if quick else 20, 1 if quick else 3
    for dataset in ("cora",) if quick else GRAPHS:
        for model in VECTORIZED:
            work = {"dataset": dataset, "model": model, "trials": 3 if quick else 20, "epochs": epochs}
            sides = Side(OURS, "benchmarks.splits:vectorized", work), Side(SEQUENTIAL, alone, work)
            yield Match(f"splits/{model} on {dataset}", sides, rounds)
        for model in VECTORIZED if quick else MODELS:
            work = {"dataset": dataset, "model": model, "trials": 1, "epochs": epochs}
            sides = Side(OURS, alone, work), Side("PyG", "benchmarks.splits:with_pyg", work)
            yield Match(f"splits/a single {model} on {dataset}", sides, rounds)


def vectorized(ready: Callable[..., None], tick: Tick, dataset: str, model: str, trials: int, epochs: int) -> None:
    """Train all trials in one vectorised loop."""
    pin_to_one_core()
    from graphtrial.training.vectorized import train_vectorized

    ready()
    _repeat(tick, lambda jobs: _last_losses(train_vectorized(jobs)), dataset, model, trials, epochs)


def sequential(ready: Callable[..., None], tick: Tick, dataset: str, model: str, trials: int, epochs: int) -> None:
    """Train the trials sequentially by `graphtrial.training.trainer.train`."""
    pin_to_one_core()
    from graphtrial.training.trainer import train

    ready()
    _repeat(tick, lambda jobs: _last_losses([train(job) for job in jobs]), dataset, model, trials, epochs)


def with_pyg(ready: Callable[..., None], tick: Tick, dataset: str, model: str, trials: int, epochs: int) -> None:
    """Train the trials sequentially with PyG's layers."""
    pin_to_one_core()
    from benchmarks.direct_twins import train_twin

    ready()
    settings = MODELS[model]
    _repeat(tick, lambda jobs: [train_twin(model, settings, job) for job in jobs], dataset, model, trials, epochs)


def _last_losses(outcomes: list[Any]) -> list[float]:
    return [outcome.epochs[-1].val_loss for outcome in outcomes]


def _repeat(
    tick: Tick, train_all: Callable[[list[Any]], list[float]], dataset: str, model: str, trials: int, epochs: int
) -> None:
    """Repeat the trainings; the checksum is the mean of the last validation losses."""
    reset_peak()
    while True:
        jobs = _jobs(dataset, model, trials, epochs)
        start = time.perf_counter()
        losses = train_all(jobs)
        tick(time.perf_counter() - start, sum(losses) / len(losses))


def _jobs(dataset: str, model: str, trials: int, epochs: int) -> list[Any]:
    from graphtrial.studies import ModelEntry, Study
    from graphtrial.trials.trial import make_job

    def trials_of(seeds: tuple[int, ...]) -> list[Any]:
        row = ModelEntry(model, MODELS[model])
        return Study(
            "splits", dataset, (row,), "wikics/nodes", seeds=seeds, rules={"stopping.max_epochs": epochs}
        ).trials()

    of_splits = trials_of((0,))
    chosen = of_splits if len(of_splits) > 1 else trials_of(tuple(range(trials)))
    return [make_job(trial) for trial in chosen[:trials]]
