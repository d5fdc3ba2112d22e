"""The interpreter is compiled before the first test: without it no model would take its program."""

from __future__ import annotations

import pytest

from graphtrial.tape import runner


@pytest.fixture(scope="session", autouse=True)
def interpreter() -> None:
    runner.warm_up()
    assert runner.is_ready()
