"""The bits of whole trainings do not depend on the number of threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.training.test_trainer import bits
from tests.training.test_vectorized import jobs

from graphtrial.core.hardware import threads
from graphtrial.core.hardware.compute import Compute
from graphtrial.graphs import Column, GraphSet
from graphtrial.nn import Shapes, build_model
from graphtrial.tape.runner import MAX_THREADS, warm_up
from graphtrial.tasks import GraphRegression
from graphtrial.training.batches import Job
from graphtrial.training.rules import TrainingRules
from graphtrial.training.trainer import train
from graphtrial.training.vectorized import train_vectorized

pytestmark = pytest.mark.kernels

RULES = TrainingRules.from_dict({"batch_size": 24, "optimizer": "adam:lr=0.01", "stopping": {"max_epochs": 2}})
GRAPHS, NODES = 52, 60
MODELS = {
    "gcn": {"width": 24, "layers": 2, "dropout": 0.2},
    "gatedgcn": {"width": 16, "layers": 2},
    "gin": {"width": 16, "layers": 2},
    "gat": {"width": 24, "layers": 2, "heads": 4},
    "graphsage": {"width": 16, "layers": 2},
    "monet": {"width": 16, "layers": 2},
    "3wl-gnn": {"width": 8, "layers": 2},
    "ringgnn": {"width": 6, "layers": 2},
}

RECORDED = ("gcn", "gatedgcn", "gin", "graphsage", "gat", "monet", "mlp")


@pytest.fixture(autouse=True)
def _no_work_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "MIN_WORK", 1)


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Computations that were shared among threads, by number of threads."""
    calls: list[int] = []
    share_out = threads._run_shared

    def counted(compute: Callable[[], None]) -> None:
        calls.append(threads.current_threads())
        share_out(compute)

    monkeypatch.setattr(threads, "_run_shared", counted)
    return calls


def random_graphs(nodes: int) -> GraphSet:
    """Return graphs of some `nodes` nodes, enough of them for several blocks of rows per batch."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(nodes // 2, nodes, GRAPHS)
    edges = 4 * sizes
    ends = np.concatenate([rng.integers(0, size, (2, count)) for size, count in zip(sizes, edges, strict=True)], axis=1)
    columns = {
        "x": Column(rng.integers(0, 3, sizes.sum()), "node", types=3),
        "edge_attr": Column(rng.integers(0, 2, edges.sum()), "edge", types=2),
        "y": Column(rng.normal(size=GRAPHS).astype(np.float32), "graph"),
    }
    return GraphSet.build(sizes, edges, ends, columns)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_training_is_bit_exact_for_any_number_of_threads(model: str, shared: list[int]) -> None:
    warm_up()  # before it is compiled, no program is used
    task = GraphRegression()
    graphs = random_graphs(24 if model in ("3wl-gnn", "ringgnn") else NODES)
    shapes, ids = Shapes.of(graphs, task), np.arange(GRAPHS)
    job = Job(
        graphs, ids[:48], ids[48:50], ids[50:], task, lambda: build_model(model, shapes, MODELS[model]), RULES, seed=1
    )
    outcomes = []
    for number in (1, 2, 3, 4):
        outcomes.append(bits(train(job, compute=Compute("cpu", threads=number))))
        alone = MAX_THREADS if model in RECORDED else 1  # up to which a recorded program computes on one thread
        assert bool(shared) == (number > alone and model != "ringgnn")  # RingGNN computes on one thread
    assert outcomes[0][0] == "done"
    assert outcomes[1:] == outcomes[:1] * 3


@pytest.mark.slow
@pytest.mark.parametrize("model", ["gcn-direct", "mlp-direct"])
def test_vectorized_training_is_bit_exact_for_any_number_of_threads(model: str, shared: list[int]) -> None:
    rng = np.random.default_rng(0)
    nodes = 120
    y = rng.integers(0, 3, nodes)
    ends = np.unique(rng.integers(0, nodes, (2, 900)), axis=1)
    x = (np.eye(3, 12)[y] + rng.normal(size=(nodes, 12))).astype(np.float32)
    columns = {"x": Column(x, "node"), "y": Column(y, "node", types=3)}
    graphs = GraphSet.build([nodes], [ends.shape[1]], ends, columns)
    outcomes = []
    for number in (1, 2, 3, 4):
        trained = train_vectorized(jobs(graphs, model, double=False), compute=Compute("cpu", threads=number))
        outcomes.append([bits(outcome) for outcome in trained])
        assert bool(shared) == (number > 1)
    assert outcomes[1:] == outcomes[:1] * 3
