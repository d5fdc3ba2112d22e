"""Validate a plug-in: load it, and run its models and encodings on a few small graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from graphtrial.core.errors import GraphTrialError, in_one_line
from graphtrial.core.plugins.loader import describe_user_error, load_plugin, unload_plugin
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
    """Return all problems of a plug-in file, which is executed."""
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
    except BaseException as error:  # a plug-in may raise anything, SystemExit included
        raise GraphTrialError(describe_user_error(error) or in_one_line(error)) from error


def _try_model(name: str, verdict: Verdict) -> None:
    graphs = _graphs()
    settings: dict[str, Any] = {}
    defaults = model_settings(name)
    if "width" in defaults and defaults["width"] is None:
        settings["width"] = -(-WIDTH // width_step(name, settings)) * width_step(name, settings)
    torch.manual_seed(0)
    model = build_model(name, Shapes.of(graphs, GraphClassification(CLASSES)), settings)
    batch = GraphBatch.from_set(graphs, np.arange(len(graphs)))
    logits = model.train()(batch)
    if not isinstance(logits, torch.Tensor) or tuple(logits.shape) != (len(SIZES), CLASSES):
        shape = list(logits.shape) if isinstance(logits, torch.Tensor) else type(logits).__name__
        raise GraphTrialError(f"its output must have shape [graphs, classes] = {[len(SIZES), CLASSES]}, not {shape}")
    if not torch.isfinite(logits).all():
        raise GraphTrialError("its output is not finite")
    if logits.requires_grad:
        logits.square().sum().backward()
    unused = [key for key, p in model.named_parameters() if p.requires_grad and p.grad is None]
    if unused:
        verdict.facts.append(f"model '{name}': no gradient for {', '.join(unused[:3])}{'...' * (len(unused) > 3)}")
    _check_independence(model.eval(), graphs, batch)


@torch.no_grad()
def _check_independence(model: torch.nn.Module, graphs: GraphSet, batch: GraphBatch) -> None:
    batched = model(batch)
    if not torch.equal(batched, model(batch)):
        raise GraphTrialError("two forward passes in evaluation mode differ: results would not be reproducible")
    single = torch.cat([model(GraphBatch.from_set(graphs, np.array([number]))) for number in range(len(graphs))])
    if not torch.allclose(batched, single, atol=TOLERANCE, rtol=TOLERANCE):
        raise GraphTrialError("its output for a graph depends on the other graphs of the batch")


def _try_encoding(name: str) -> None:
    kind, graphs = ENCODINGS.get(name), _graphs()
    required = [key for key, p in declared_arguments(kind).items() if p.default is p.empty]
    encoding = kind(**dict.fromkeys(required, 3))
    values = np.asarray(encoding.compute(graphs))
    if values.shape != (graphs.num_nodes, encoding.width):
        raise GraphTrialError(
            f"its shape must be [nodes, width] = {[graphs.num_nodes, encoding.width]}, not {list(values.shape)}"
        )
    if not np.isfinite(values).all():
        raise GraphTrialError("its values are not finite")
    if not np.array_equal(values, np.asarray(encoding.compute(graphs))):
        raise GraphTrialError("it is not deterministic: computed twice, its values differ")


def _try_dataset(name: str) -> None:
    kind = DATASETS.get(name)
    if not getattr(kind, "task", None) and kind.task_of is DatasetSpec.task_of:
        raise GraphTrialError("it has no task")
    kind()


def _graphs() -> GraphSet:
    """Return four cycles with a chord, with node and edge types and a class each."""
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
