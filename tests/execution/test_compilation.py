"""The interpreter of recorded programs is compiled beside long runs only."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

import pytest

from graphtrial.execution import compilation
from graphtrial.execution.compilation import background_compilation


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Processes that were started, in which Python sleeps instead of compiling."""
    processes: list[subprocess.Popen[bytes]] = []
    monkeypatch.setattr(compilation, "CODE", "import time; time.sleep(600)")
    popen = subprocess.Popen

    def record(*args: Any, **options: Any) -> subprocess.Popen[bytes]:
        processes.append(popen(*args, **options))
        return processes[-1]

    monkeypatch.setattr(compilation.subprocess, "Popen", record)
    return processes


def test_short_run_starts_no_process(started: list[subprocess.Popen[bytes]]) -> None:
    with background_compilation(delay=600):
        pass
    assert started == []


def test_process_ends_with_the_run(started: list[subprocess.Popen[bytes]]) -> None:
    with suppress(KeyboardInterrupt), background_compilation(delay=0):
        while not started:
            time.sleep(0.01)
        assert started[0].poll() is None
        raise KeyboardInterrupt
    assert len(started) == 1
    assert started[0].returncode is not None


def test_interpreter_is_not_used_before_it_is_compiled() -> None:
    code = (
        "import torch, numpy as np\n"
        "from graphtrial.tape import interpreter, runner\n"
        "interpreter.execute._cache.has_overload = lambda target: False\n"
        "assert not runner.is_ready()\n"
        "taped = runner.TapedModel(torch.nn.Linear(1, 1))\n"
        "assert taped._program(None) is None\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
