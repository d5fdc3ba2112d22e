"""Stores with made-up scores, for what only reads them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphtrial.core.registry import version_of
from graphtrial.core.spec import Component
from graphtrial.nn import MODELS
from graphtrial.studies import ModelEntry, Study
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.trials import Store, TrialSpec

Filler = Callable[..., list[TrialSpec]]
ENVIRONMENT = {"python": "3", "system": "s", "machine": "m", "cpu": "c", "packages": {}, "code": "x"}


@pytest.fixture
def results(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path / "results" / "store.sqlite")


@pytest.fixture
def fill(results: Store) -> Filler:
    """A function that puts finished trials of a model into the store, one per split and seed, with these scores."""
    (base, *_) = Study("s", "csl", (ModelEntry("gcn", {"width": 146}),), seeds=1, splits=1).trials()

    def fill(
        model: str,
        scores: Sequence[float],
        *,
        dataset: str = "csl",
        splits: int = 1,
        encoding: Component | None = None,
        higher_is_better: bool = True,
        params: int = 100_927,
        protocol: str = "bgnn-v5/csl@1",
        arguments: dict[str, Any] | None = None,
        rules: dict[str, Any] | None = None,
    ) -> list[TrialSpec]:
        specs = []
        for number, score in enumerate(scores):
            seed, split = divmod(number, splits)
            component = Component(model, {**base.settings, **(arguments or {})})
            changes = {"dataset": dataset, "model": component, "encoding": encoding, "protocol": protocol}
            if model in MODELS:
                changes["model_version"] = version_of(MODELS, model)
            if rules:
                changes["rules"] = base.rules.changed(rules)
            spec = dataclasses.replace(base, split=split, seed=seed, **changes)
            results.start(spec, "accuracy", higher_is_better, ENVIRONMENT)
            epochs = [Epoch(n, 1e-3, 1.0, 1.0, score, 0.5) for n in (1, 2)]
            results.finish(spec.id, Outcome("done", params, epochs, {"train": score, "val": score, "test": score}))
            specs.append(spec)
        return specs

    return fill
