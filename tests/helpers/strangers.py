"""Untrusted files that name code: a module that creates a folder when imported, and trials that refer to it."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from graphtrial.core.plugins import permissions
from graphtrial.core.spec import Component
from graphtrial.execution import Executor, run_trials
from graphtrial.studies import ModelEntry, Study
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.trials import Store, TrialSpec

MODULE = """
import os
os.makedirs({mark!r}, exist_ok=True)
import numpy as np
from torch import nn
import graphtrial as gt
from graphtrial.datasets.csl import CSL
from graphtrial.kernels.wl import WeisfeilerLehman
from graphtrial.tasks import GraphClassification
class Net(nn.Module):
    def __init__(self, shapes, width: int = 8):
        super().__init__()
        self.encoder = gt.NodeEncoder(shapes, width)
        self.head = gt.make_head(shapes, width, 1, readout="sum", layer_heads=False)
    def forward(self, graph):
        return self.head(graph, [self.encoder(graph)])
class Kernel(WeisfeilerLehman):
    "A kernel."
class Positions(gt.Encoding):
    name = "positions"
    def __init__(self, k: int = 2):
        self.width = k
    def compute(self, graphs):
        return np.ones((graphs.num_nodes, self.width), np.float32)
class Data(CSL):
    "CSL of a stranger."
    name = "marked:Data"
    protocol = "bgnn-v5/csl"
class Asked(GraphClassification):
    name = "asked"
protocol = gt.Protocol("marked", 1, gt.PROTOCOLS.get("bgnn-v5/csl").rules, (1,), 1, "a paper")
"""
PLACES = {"model": "Net", "kernel": "Kernel", "encoding": "Positions", "dataset": "Data", "protocol": "protocol"}


def trial(place: str, plain: TrialSpec, folder: Path, *, honest: bool) -> TrialSpec:
    """Return a trial that names code at some place; an honest one has the hash of that code in its identity."""
    path = f"marked:{PLACES[place]}"
    used = {"marked": sha256((folder / "library" / "marked.py").read_bytes()).hexdigest()} if honest else {}
    if place == "model":
        return replace(plain, model=Component(path, {"width": 8}), plugins=used)
    if place == "encoding":
        return replace(plain, encoding=Component(path, {"k": 2}), encoding_version=1, plugins=used)
    if place == "dataset":
        return replace(plain, dataset=path, plugins=used)
    if place == "protocol":
        return replace(plain, protocol=f"{path}@1")
    study = Study("s", "csl", (ModelEntry("wl"),), protocol="tudataset/kernel-svm", seeds=1, splits=1)
    (built,) = study.trials()
    return replace(built, model=Component(path, built.settings), plugins=used)


def stored(spec: TrialSpec, path: Path) -> None:
    store, epoch = Store(path), Epoch(1, 1e-3, 1.0, 1.0, 1.0, 1.0)
    store.start(spec, "accuracy", True, {})
    has_epochs = spec.kind.has_epochs
    if has_epochs:
        store.add_epochs(spec.id, [epoch])
    scores = {"train": 1.0, "val": 1.0, "test": 1.0}
    store.finish(spec.id, Outcome("done", 1, [epoch] if has_epochs else [], scores))


def run_allowed(spec: TrialSpec, store: Store, executor: Executor, mark: Path) -> None:
    """Check that workers refuse a trial with code of its own, and import that code once it is allowed."""
    run_trials([spec], store, executor=executor)
    (record,) = store.trials()
    assert record.status == "failed"
    assert "names code outside graphtrial: 'marked:Net'" in str(record.error)
    assert not mark.exists()
    permissions.allow("marked:Net")
    run_trials([spec], store, executor=executor)
    (record,) = store.trials()
    assert (record.status, record.error) == ("done", None)
    assert mark.exists()
