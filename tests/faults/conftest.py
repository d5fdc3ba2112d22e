"""How often each fault is injected."""

from __future__ import annotations

import pytest


@pytest.fixture
def times(request: pytest.FixtureRequest) -> int:
    """How often a command is killed in the long form; 0 in the short one, where each test says its own number."""
    return 30 if request.config.getoption("--long") else 0
