"""A search that runs in seconds, and an empty store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.helpers import searched

from graphtrial.trials import Store
from graphtrial.tuning.declaration import Tuning


@pytest.fixture
def declare() -> Callable[..., Tuning]:
    """Return a function that declares a search over GIN on CSL with Laplacian encodings, four epochs each."""
    return searched.declare


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path / "results" / "store.sqlite")
