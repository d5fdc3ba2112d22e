"""A study that runs in seconds: two rows on two folds of CSL, two epochs each."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphtrial.studies import ModelEntry, Study
from graphtrial.trials import Store


@pytest.fixture
def study() -> Study:
    """Two encodings x two folds x one seed."""
    rows = (ModelEntry("gcn", {"width": 8, "layers": 2}, ("none", "laplacian:4")),)
    return Study("small", "csl", rows, seeds=1, splits=2, rules={"stopping.max_epochs": 2})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path / "results" / "store.sqlite")
