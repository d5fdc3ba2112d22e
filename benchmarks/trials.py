"""Contestants that run a sample of the grid of `tudataset/gnn` on all cores: executor and store, or PyG."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.machine import cores
from benchmarks.match import OURS, Match, Side
from benchmarks.protocol import SkipError, Tick

PROTOCOL = "tudataset/gnn"
DATASET = "enzymes+labels"
GRID = {"layers": [1, 2, 3, 4, 5], "width": [32, 64, 128]}
FOLDS, SEEDS, POINTS = 10, 10, 15
EPOCHS = 60
"""Epochs of each trial of the sample; under the protocol the learning rate ends a training after some 60 to 200."""


def matches(quick: bool) -> Iterable[Match]:
    """Yield a sample of folds and of the grid, extrapolated to all folds, seeds and points."""
    sample: dict[str, Any] = {"layers": [3], "width": [64], "folds": 2, "epochs": 2}
    if not quick:
        sample = {"layers": [1, 3, 5], "width": [32, 128], "folds": 2, "epochs": EPOCHS}
    trials = len(sample["layers"]) * len(sample["width"]) * sample["folds"]
    sides = Side(OURS, "benchmarks.trials:graphtrial", sample), Side("PyG", "benchmarks.trials:pyg", sample)
    yield Match("trials/GIN-eps on ENZYMES", sides, 1 if quick else 2, scale=FOLDS * SEEDS * POINTS / trials)


def graphtrial(
    ready: Callable[..., None], tick: Tick, layers: list[int], width: list[int], folds: int, epochs: int
) -> None:
    """Run the trials by the process executor, one worker per core, as `graphtrial study` does."""
    from graphtrial.execution import run_trials
    from graphtrial.studies import ModelEntry, Study
    from graphtrial.trials import Store

    rows = tuple(ModelEntry("gin-eps", {"layers": depth, "width": wide}) for depth in layers for wide in width)
    rules = {"stopping.max_epochs": epochs, "stopping.min_lr": 1e-12}
    ready()
    while True:
        with tempfile.TemporaryDirectory(prefix="graphtrial-bench-") as folder:
            start = time.perf_counter()
            store = Store(Path(folder) / "store.sqlite")
            trials = Study("grid", DATASET, rows, protocol=PROTOCOL, seeds=1, splits=folds, rules=rules).trials()
            run_trials(trials, store, workers=len(cores()))
            seconds = time.perf_counter() - start
            records = store.trials([trial.id for trial in trials])
        unfinished = [record.error or record.status for record in records if not record.is_finished]
        if unfinished or len(records) != len(rows) * folds:
            raise SkipError(f"a trial did not finish: {unfinished or records}")
        tick(seconds, float(np.mean([record.scores["train"] for record in records])))


def pyg(ready: Callable[..., None], tick: Tick, layers: list[int], width: list[int], folds: int, epochs: int) -> None:
    """Train the same grid with PyG, one process and thread per core; data are loaded once, before the clock starts."""
    try:
        import torch_geometric  # noqa: F401
    except ImportError as error:
        raise SkipError(f"PyG is not installed ({error})") from None
    work = [(depth, wide, fold, epochs) for depth in layers for wide in width for fold in range(folds)]
    with ProcessPoolExecutor(len(cores()), mp_context=get_context("spawn"), initializer=_prepare) as pool:
        list(pool.map(_train, [(1, 8, 0, 1)] * len(cores())))
        ready()
        while True:
            start = time.perf_counter()
            scores = list(pool.map(_train, work))
            tick(time.perf_counter() - start, float(np.mean(scores)))


def _prepare() -> None:
    torch.set_num_threads(1)
    _data()


@cache
def _data() -> tuple[list[Any], list[dict[str, Any]], int, int]:
    """Return the graphs, categories one-hot, the parts of each fold, and the numbers of features and classes."""
    from graphtrial.datasets import load
    from graphtrial.graphs import to_pyg
    from graphtrial.studies import ModelEntry, Study
    from graphtrial.trials.trial import make_job

    rows = (ModelEntry("gin-eps", {"layers": 1, "width": 8}),)
    trials = Study("folds", DATASET, rows, protocol=PROTOCOL, seeds=1).trials()
    jobs = [make_job(trial) for trial in trials]
    parts = [{"train": job.train_ids, "val": job.val_ids, "test": job.test_ids} for job in jobs]
    dataset = load(DATASET)
    graphs = to_pyg(dataset.graphs)
    types = dataset.graphs.column("x").types
    for graph in graphs:
        graph.x = nn.functional.one_hot(graph.x.reshape(-1).long(), types).float() if types else graph.x.float()
        graph.y = graph.y.reshape(-1).long()
    return graphs, parts, graphs[0].x.shape[1], 1 + max(int(graph.y.max()) for graph in graphs)


class _GIN(nn.Module):
    """GIN-epsilon of TUDataset by PyG's `GINConv`."""

    def __init__(self, inputs: int, width: int, layers: int, outputs: int) -> None:
        super().__init__()
        from torch_geometric.nn import GINConv

        def conv(in_width: int) -> nn.Module:
            mlp = nn.Sequential(
                *(nn.Linear(in_width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.BatchNorm1d(width))
            )
            built: nn.Module = GINConv(mlp, train_eps=True)
            return built

        self.convs = nn.ModuleList(map(conv, [inputs, *[width] * (layers - 1)]))
        self.head = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.5), nn.Linear(width, outputs))

    def forward(self, data: Any) -> Tensor:
        from torch_geometric.nn import global_mean_pool

        x = data.x
        for conv in self.convs:
            x = conv(x, data.edge_index)
        out: Tensor = self.head(global_mean_pool(x, data.batch, data.num_graphs))
        return out


def _train(work: tuple[int, int, int, int]) -> float:
    """Train one model on one fold, validate each epoch, test the best weights; return the training accuracy."""
    from torch_geometric.loader import DataLoader

    layers, width, fold, epochs = work
    graphs, folds, inputs, outputs = _data()
    parts = {name: [graphs[i] for i in ids] for name, ids in folds[fold].items()}
    torch.manual_seed(0)
    model = _GIN(inputs, width, layers, outputs)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "max", 0.5, 5)
    loaders = {name: DataLoader(part, batch_size=64) for name, part in parts.items()}
    shuffled = DataLoader(parts["train"], batch_size=64, shuffle=True)
    best, state = -1.0, {}
    for _ in range(epochs):
        model.train()
        for data in shuffled:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(data), data.y).backward()
            optimizer.step()
        score = _accuracy(model, loaders["val"])
        schedule.step(score)
        if score > best:
            best, state = score, {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(state)
    return {name: _accuracy(model, loader) for name, loader in loaders.items()}["train"]


@torch.no_grad()
def _accuracy(model: nn.Module, batches: Iterable[Any]) -> float:
    model.eval()
    right = [(model(data).argmax(dim=1) == data.y).float() for data in batches]
    return 100 * float(torch.cat(right).mean())
