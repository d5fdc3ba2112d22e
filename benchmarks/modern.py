"""GIN+ and GRIT on ZINC and Exphormer on PATTERN-like graphs, beside the same models as released: training steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from benchmarks.data import graphs_for
from benchmarks.gps import BATCH, train, train_as_trials
from benchmarks.machine import pin_to_one_core
from benchmarks.match import OURS, Match, Side
from benchmarks.protocol import SkipError, Tick
from benchmarks.training import LEARNING_RATE, as_data

RELEASED = "PyG, as released"
EXPANDER, WALK = 7, 21
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "gin-plus": ("zinc", {"width": 80, "layers": 12, "edge_features": True}),
    "exphormer": (
        "pattern",
        {
            "width": 40,
            "layers": 4,
            "heads": 4,
            "dropout": 0.0,
            "virtual_nodes": 4,
            "expander_degree": EXPANDER,
            "expander_loops": True,
        },
    ),
    "grit": ("zinc", {"width": 64, "layers": 10, "heads": 8, "walk_length": WALK, "edge_features": True}),
}
"""Workload and settings of each model: those released for ZINC and PATTERN, without encodings."""


def matches(quick: bool) -> Iterable[Match]:
    """Yield training steps of each model."""
    batches, rounds = (1, 1) if quick else (4, 5)
    for model, (workload, _) in MODELS.items():
        work = {"model": model, "batches": batches}
        sides = (
            Side(OURS, "benchmarks.modern:graphtrial", work),
            Side(RELEASED, "benchmarks.modern:released", work),
        )
        yield Match(f"modern/{model} on {workload}", sides, rounds, scale=1 / batches)


def graphtrial(ready: Callable[..., None], tick: Tick, model: str, batches: int) -> None:
    """Train a model as trials do, on batches of 32 graphs, collated before."""
    from graphtrial.graphs import GraphBatch
    from graphtrial.nn import Shapes, build_model
    from graphtrial.tape.runner import warm_up

    workload, settings = MODELS[model]
    pin_to_one_core()
    warm_up()
    ready()
    data, ids = graphs_for(workload, batches * BATCH)
    shapes = Shapes(outputs=1, level="graph", node_types=28, edge_types=4)
    torch.manual_seed(1)
    built = build_model(model, shapes, {**settings, "head": "san", "readout": "sum"})
    parts = [(GraphBatch.from_set(data, part), part) for part in ids.reshape(-1, BATCH)]
    train_as_trials(tick, built, parts, data)


def released(ready: Callable[..., None], tick: Tick, model: str, batches: int) -> None:
    """Train its twin on PyG batches; expanders, pairs and walks are computed before."""
    try:
        from torch_geometric.data import Batch

        from benchmarks import modern_twins as twins
    except ImportError as error:
        raise SkipError(f"PyG is not installed ({error})") from None
    from graphtrial.graphs import GraphBatch
    from graphtrial.graphs.pairs import expander_edges

    workload, _ = MODELS[model]
    pin_to_one_core()
    torch.set_num_threads(1)
    ready()
    data, ids = graphs_for(workload, batches * BATCH)
    torch.manual_seed(1)
    parts = []
    for part in ids.reshape(-1, BATCH):
        batch: Any = Batch.from_data_list(as_data(data, part))
        if model == "exphormer":
            own = GraphBatch.from_set(data, part)
            batch.expander = torch.stack(list(expander_edges(own, EXPANDER, 0, self_loops=True)))
        elif model == "grit":
            batch = twins.with_pairs(batch, WALK)
        parts.append((batch, part))
    built = twin(model)
    train(tick, built, parts, data, torch.optim.AdamW(built.parameters(), lr=LEARNING_RATE))


def twin(model: str) -> torch.nn.Module:
    """Build the twin of a model."""
    from benchmarks import modern_twins as twins

    settings = MODELS[model][1]
    width, layers = settings["width"], settings["layers"]
    if model == "gin-plus":
        return twins.GINPlus(width, layers, edge_types=4)
    if model == "exphormer":
        return twins.Exphormer(width, layers, settings["heads"], settings["virtual_nodes"])
    return twins.GRIT(width, layers, settings["heads"], WALK, dropout=0.2)
