"""A search that runs in seconds, and an empty store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphtrial.studies.tune_options import TuneOptions
from graphtrial.trials import Store
from graphtrial.tuning.declaration import Tuning
from graphtrial.tuning.space_files import read_space
from graphtrial.tuning.subject import Subject

SPACE: dict[str, Any] = {
    "settings": {"layers": [2, 3], "residual": [True, False]},
    "rules": {"optimizer.lr": {"low": 1e-3, "high": 1e-1, "log": True, "points": 3}},
}


@pytest.fixture
def declare() -> Callable[..., Tuning]:
    """Return a function that declares a search over GIN on CSL with Laplacian encodings, four epochs each."""

    def make(budget: str = "4trials", search: str = "random", epochs: int = 4, **options: Any) -> Tuning:
        rules = {"stopping.max_epochs": epochs, "schedule": "constant"}
        subject = Subject("csl", "gin", {"width": 8}, "laplacian:4,sign=absolute", rules=rules)
        space = read_space(options.pop("space", SPACE), "small")
        seeds, splits = options.pop("seeds", 1), options.pop("splits", 1)
        return Tuning(subject, space, TuneOptions(budget, search=search, **options), seeds, splits)

    return make


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path / "results" / "store.sqlite")
