"""Stores with made-up results of real specifications, for tests of the site."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from graphtrial.core.spec import Component
from graphtrial.studies import ModelEntry, Study
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.trials import Store, TrialSpec

ENVIRONMENT = {"python": "3", "system": "Linux", "machine": "m", "cpu": "c", "packages": {"torch": "2"}, "code": "x"}
EVIL = "<script>alert(1)</script>\"'&|"
"""A name that a page must not take for anything but a name."""


@contextmanager
def session_cache(home: Path) -> Iterator[None]:
    """Use the cache of the session, offline, in a fixture of a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRAPHTRIAL_HOME", str(home))
        patch.setenv("GRAPHTRIAL_OFFLINE", "1")
        yield


def plan(seeds: int = 2) -> list[TrialSpec]:
    """Return the trials of four models with and without an encoding on CSL."""
    rows = tuple(
        ModelEntry(model, {"width": 8 + 2 * i, "layers": 4}, ("none", "laplacian:20,sign=absolute"))
        for i, model in enumerate(("mlp", "gcn", "gin", "gatedgcn"))
    )
    return Study("sample", "csl", rows, seeds=seeds).trials()


def sample_store(path: Path, *, evil: bool = False) -> Store:
    """Fill a store: scores that rise from model to model and fall on a second dataset, a failure, an evil name."""
    store = Store(path)
    trials = plan()
    for number, spec in enumerate(trials):
        record(store, spec, 40 + 55 * number / len(trials) + (number * 7 % 5), epochs=30 + number % 7)
        if spec.split == 0:
            record(store, dataclasses.replace(spec, dataset="twin"), 90 - 40 * number / len(trials), epochs=12)
    failed = dataclasses.replace(trials[0], seed=999)
    store.start(failed, "accuracy", True, ENVIRONMENT)
    store.mark(failed.id, "failed", f"Traceback of {EVIL}")
    if evil:
        spec = dataclasses.replace(trials[0], model=Component(EVIL, {"width": 3, EVIL: EVIL}), dataset=EVIL)
        for seed in (1, 2):
            record(store, dataclasses.replace(spec, seed=seed), 50 + seed, epochs=5)
    return store


def record(store: Store, spec: TrialSpec, test: float, epochs: int, val_loss: float = 1.0) -> None:
    """Note a finished trial with this test score, and final validation losses multiplied by a factor."""
    store.start(spec, "accuracy", True, ENVIRONMENT)
    history = [
        Epoch(
            n,
            1e-3 / (1 + n // 10),
            math.exp(-n / 9),
            (0.1 + math.exp(-n / 8)) * val_loss ** min(1, n / 10),
            test * (1 - math.exp(-n / 5)),
            0.5,
        )
        for n in range(1, epochs + 1)
    ]
    scores = {"train": min(100.0, test + 3), "val": test - 1, "test": test}
    store.finish(spec.id, Outcome("done", 100_000, history, scores, details={"peak_bytes": 3_000_000 + epochs}))
