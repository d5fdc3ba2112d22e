"""Line protocol between the driver and a contestant in a subprocess.

A contestant runs one repetition at a time and reports each by a line of JSON; before the next it waits for a line
`run`. The first repetition is the warm-up. `stop`, or the end of the pipe, ends it.

    contestant: {"ready": {"baseline": bytes, ...}}
    contestant: {"seconds": s, "checksum": c, "peak": bytes, ...}    the warm-up, then one line for each `run`
    contestant: {"skip": "the reason"}                               instead of any of these
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from benchmarks.machine import peak_bytes

ROOT = Path(__file__).resolve().parents[1]
LEAKING = ("MALLOC_", "GLIBC_TUNABLES", "OMP_", "MKL_", "KMP_", "OPENBLAS_", "NUMBA_", "LD_PRELOAD")
"""Prefixes of environment variables that affect speed and are not inherited by contestants."""

Tick = Callable[..., None]
"""`tick(seconds, checksum, **facts)`: report a repetition and wait for the next `run`."""


class SkipError(Exception):
    """The contestant cannot run; the message is the reason."""


@dataclass(frozen=True)
class Repetition:
    """Report of one repetition: seconds, checksum of the result, peak memory in bytes, additional facts."""

    seconds: float
    checksum: float
    peak: int
    facts: dict[str, Any] = field(default_factory=dict)


class Contestant:
    """Driver's handle of a contestant process."""

    def __init__(self, name: str, arguments: Mapping[str, Any], env: Mapping[str, str] | None = None) -> None:
        clean = {key: value for key, value in os.environ.items() if not key.startswith(LEAKING)}
        path = os.pathsep.join(part for part in (str(ROOT), clean.get("PYTHONPATH", "")) if part)
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the process
        self.ready: dict[str, Any] = {}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.contest", name, json.dumps(dict(arguments))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env={**clean, "PYTHONPATH": path, **(env or {})},
        )

    def warm_up(self) -> Repetition:
        """Wait for the first repetition."""
        self.ready = self._receive()["ready"]
        return self._repetition(self._receive())

    def run(self) -> Repetition:
        """Run one repetition."""
        try:
            self._pipe.write("run\n")
            self._pipe.flush()
        except BrokenPipeError:
            raise SkipError(self._exit_message()) from None
        return self._repetition(self._receive())

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(BrokenPipeError):
            self._pipe.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
        self._errors.close()

    @property
    def _pipe(self) -> TextIO:
        assert self._process.stdin is not None  # noqa: S101 - it was opened with a pipe
        return self._process.stdin  # type: ignore[return-value]

    def _receive(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise SkipError(self._exit_message())
        message: dict[str, Any] = json.loads(line)
        if "skip" in message:
            raise SkipError(message["skip"])
        return message

    def _repetition(self, message: dict[str, Any]) -> Repetition:
        facts = {key: value for key, value in message.items() if key not in ("seconds", "checksum", "peak")}
        return Repetition(message["seconds"], message["checksum"], message["peak"], facts)

    def _exit_message(self) -> str:
        code = self._process.wait()
        self._errors.seek(0)
        lines = [line for line in self._errors.read().splitlines() if line.strip()]
        return f"its process ended with code {code}: {lines[-1] if lines else 'no message'}"


def serve(contest: Callable[..., None], arguments: Mapping[str, Any]) -> None:
    """Run `contest` in the contestant's process until `stop`.

    Standard output is redirected to standard error, so that prints do not corrupt the protocol.
    """
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def send(**message: Any) -> None:
        channel.write(json.dumps(message) + "\n")
        channel.flush()

    def tick(seconds: float, checksum: float, **facts: Any) -> None:
        send(seconds=float(seconds), checksum=float(checksum), peak=peak_bytes(), **facts)
        if sys.stdin.readline().strip() != "run":
            raise SystemExit

    def ready(**facts: Any) -> None:
        send(ready={"baseline": peak_bytes(), **facts})

    try:
        contest(ready=ready, tick=tick, **arguments)
    except SkipError as error:
        send(skip=str(error))
