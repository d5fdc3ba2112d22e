"""Time from `graphtrial run` to its first optimizer step, with a model that records the time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.protocol import ROOT, Tick

NOTE = "GRAPHTRIAL_BENCH_NOTE"
TIMEOUT_SECONDS = 120.0


def command(ready: Callable[..., None], tick: Tick, dataset: str, width: int) -> None:
    """Run `graphtrial run` on a prepared dataset until the end of its first step, then interrupt it."""
    ready()
    while True:
        with tempfile.TemporaryDirectory(prefix="graphtrial-bench-") as folder:
            note = Path(folder) / "note"
            words = ["run", dataset, "benchmarks.noted_gcn:NotedGCN", "--width", str(width), "--seeds", "1"]
            words += ["--max-epochs", "1", "--store", str(Path(folder) / "store.sqlite"), "--json"]
            path = os.pathsep.join(part for part in (str(ROOT), os.environ.get("PYTHONPATH", "")) if part)
            start = time.monotonic()
            process = subprocess.Popen(
                [*_graphtrial(), *words],
                env={**os.environ, NOTE: str(note), "PYTHONPATH": path},
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                ended = _wait(note, process, start)
            finally:
                _interrupt(process)
        tick(ended - start, 0.0)


def help_command(ready: Callable[..., None], tick: Tick, words: list[str]) -> None:
    """Run a command that prints help or a list, in a folder without a store."""
    ready()
    while True:
        with tempfile.TemporaryDirectory(prefix="graphtrial-bench-") as folder:
            start = time.monotonic()
            subprocess.run([*_graphtrial(), *words], check=True, stdout=subprocess.DEVNULL, cwd=folder)
            tick(time.monotonic() - start, 0.0)


def imports(ready: Callable[..., None], tick: Tick, modules: list[str]) -> None:
    """Import these modules in a fresh interpreter: a lower bound for any command that needs them."""
    ready()
    while True:
        start = time.monotonic()
        subprocess.run([sys.executable, "-c", f"import {', '.join(modules)}"], check=True)
        tick(time.monotonic() - start, 0.0)


def _graphtrial() -> list[str]:
    beside = Path(sys.executable).with_name("graphtrial")
    return [str(beside)] if beside.exists() else [sys.executable, "-m", "graphtrial"]


def _interrupt(process: subprocess.Popen[Any]) -> None:
    """Stop a command and wait until its workers have ended too, which would compete with the next repetition."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    with suppress(ProcessLookupError):
        while True:
            os.killpg(process.pid, 0)
            time.sleep(0.02)


def _wait(note: Path, process: subprocess.Popen[Any], start: float) -> float:
    while time.monotonic() - start < TIMEOUT_SECONDS:
        if note.exists():
            return float(note.read_text())
        if process.poll() is not None:
            raise RuntimeError(f"graphtrial run ended with code {process.returncode} before its first step")
        time.sleep(0.02)
    raise RuntimeError(f"graphtrial run took no step within {TIMEOUT_SECONDS:.0f} seconds")
