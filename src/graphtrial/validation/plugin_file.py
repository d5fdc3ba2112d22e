"""A plug-in, loaded as a command would load it; its models and encodings are tried on a handful of small graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from graphtrial.core.errors import GraphTrialError, in_one_line
from graphtrial.core.plugins import describe_user_error, load_plugin, unload_plugin
from graphtrial.core.signatures import declared_arguments
from graphtrial.datasets import DATASETS
from graphtrial.datasets.base import DatasetSpec
from graphtrial.encodings import ENCODINGS
from graphtrial.graphs import Column, GraphBatch, GraphSet
from graphtrial.nn import Shapes, build_model
from graphtrial.nn.registry import model_settings, width_step
from graphtrial.tasks import GraphClassification
from graphtrial.validation.verdict import Verdict

CLASSES, SIZES, WIDTH = 3, (3, 5, 4, 6), 64
TOLERANCE = 1e-3


def check_plugin(path: Path) -> Verdict:
    """Return everything that is wrong with a plug-in file, which is executed."""
    verdict = Verdict(str(path), "plug-in")
    with verdict.noting():
        plugin = load_plugin(path)
        try:
            for kind, name in plugin.things:
                verdict.facts.append(f"registers the {kind} '{name}'")
                with verdict.noting(f"{kind} '{name}'"):
                    _try(kind, name, verdict)
        finally:
            unload_plugin(plugin)
    return verdict


def _try(kind: str, name: str, verdict: Verdict) -> None:
    try:
        if kind == "model":
            _try_model(name, verdict)
        elif kind == "encoding":
            _try_encoding(name)
        elif kind == "dataset":
            _try_dataset(name)
    except (GraphTrialError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a plug-in is a program: it may raise anything, or try to end this process
        raise GraphTrialError(describe_user_error(error) or in_one_line(error)) from error


def _try_model(name: str, verdict: Verdict) -> None:
    graphs = _graphs()
    settings: dict[str, Any] = {}
    known = model_settings(name)
    if "width" in known and known["width"] is None:
        settings["width"] = -(-WIDTH // width_step(name, settings)) * width_step(name, settings)
    torch.manual_seed(0)
    model = build_model(name, Shapes.of(graphs, GraphClassification(CLASSES)), settings)
    batch = GraphBatch.from_set(graphs, np.arange(len(graphs)))
    found = model.train()(batch)
    if not isinstance(found, torch.Tensor) or tuple(found.shape) != (len(SIZES), CLASSES):
        got = list(found.shape) if isinstance(found, torch.Tensor) else type(found).__name__
        raise GraphTrialError(f"it must give one row per graph, {[len(SIZES), CLASSES]}, and gives {got}")
    if not torch.isfinite(found).all():
        raise GraphTrialError("its output is not finite")
    if found.requires_grad:
        found.square().sum().backward()
    idle = [key for key, p in model.named_parameters() if p.requires_grad and p.grad is None]
    if idle:
        verdict.facts.append(f"of model '{name}' no gradient reaches {', '.join(idle[:3])}{'...' * (len(idle) > 3)}")
    _check_independence(model.eval(), graphs, batch)


@torch.no_grad()
def _check_independence(model: torch.nn.Module, graphs: GraphSet, batch: GraphBatch) -> None:
    together = model(batch)
    if not torch.equal(together, model(batch)):
        raise GraphTrialError("two passes in evaluation mode differ, so that no result could be had again")
    alone = torch.cat([model(GraphBatch.from_set(graphs, np.array([number]))) for number in range(len(graphs))])
    if not torch.allclose(together, alone, atol=TOLERANCE, rtol=TOLERANCE):
        raise GraphTrialError("what it says of a graph depends on the other graphs of the batch")


def _try_encoding(name: str) -> None:
    kind, graphs = ENCODINGS.get(name), _graphs()
    open_ones = [key for key, p in declared_arguments(kind).items() if p.default is p.empty]
    encoding = kind(**dict.fromkeys(open_ones, 3))
    values = np.asarray(encoding.compute(graphs))
    if values.shape != (graphs.num_nodes, encoding.width):
        raise GraphTrialError(
            f"it must give {[graphs.num_nodes, encoding.width]} numbers and gives {list(values.shape)}"
        )
    if not np.isfinite(values).all():
        raise GraphTrialError("it gives numbers that are not finite")
    if not np.array_equal(values, np.asarray(encoding.compute(graphs))):
        raise GraphTrialError("computed twice it gives different numbers")


def _try_dataset(name: str) -> None:
    kind = DATASETS.get(name)
    if not getattr(kind, "task", None) and kind.task_of is DatasetSpec.task_of:
        raise GraphTrialError("it does not say its task")
    kind()


def _graphs() -> GraphSet:
    """Return four rings with a chord, with types of nodes and edges and a class each."""
    ends, edges = [], []
    for nodes in SIZES:
        ring = [(i, (i + 1) % nodes) for i in range(nodes)] + [(0, nodes // 2)]
        both = sorted({*ring, *((v, u) for u, v in ring)})
        ends.extend(both)
        edges.append(len(both))
    rng = np.random.default_rng(0)
    columns = {
        "x": Column(rng.integers(0, 4, sum(SIZES)), "node", types=4),
        "edge_attr": Column(rng.integers(0, 2, sum(edges)), "edge", types=2),
        "y": Column(np.arange(len(SIZES)) % CLASSES, "graph", types=CLASSES),
    }
    return GraphSet.build(list(SIZES), edges, np.array(ends).T, columns)
