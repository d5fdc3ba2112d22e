"""Sizes that a model takes where neither width nor budget is given: those of the released configurations, frozen."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from graphtrial.core.spec import Component
from graphtrial.datasets import DATASETS
from graphtrial.nn import MODELS, Shapes, model_settings
from graphtrial.studies import ModelEntry
from graphtrial.studies.study import choose_settings

FILE = Path(__file__).parents[1] / "frozen" / "default_sizes.json"
LAPLACIAN = Component("laplacian", {"k": 20, "sign": "random"})


class _BudgetNeededError(Exception):
    """The width depends on the budget, hence on the shapes of the data."""


def _shapes() -> Shapes:
    raise _BudgetNeededError


def default_sizes() -> dict[str, dict[str, Any]]:
    """Return the settings by dataset and model, and those with an encoding or edge features where they differ."""
    sizes: dict[str, dict[str, Any]] = {}
    for dataset, model, encoding, edge_features in itertools.product(DATASETS, MODELS, (None, LAPLACIAN), (0, 1)):
        if edge_features and "edge_features" not in model_settings(model):
            continue
        settings = {"edge_features": True} if edge_features else {}
        try:
            chosen = choose_settings(dataset, _shapes, ModelEntry(model, settings), encoding)
        except _BudgetNeededError:
            continue
        chosen = {key: value for key, value in chosen.items() if key != "edge_features"}
        if not chosen:  # a model without sizes
            continue
        variant = " with an encoding" * (encoding is not None) + " with edge features" * edge_features
        if not variant or sizes.get(f"{dataset} {model}") != chosen:
            sizes[f"{dataset} {model}{variant}"] = chosen
    return sizes


@pytest.mark.slow
def test_default_sizes_are_frozen() -> None:
    assert default_sizes() == json.loads(FILE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    lines = (f"{json.dumps(key)}: {json.dumps(value, sort_keys=True)}" for key, value in default_sizes().items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
