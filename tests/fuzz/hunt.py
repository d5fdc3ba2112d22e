"""Starts processes that run command lines, and collects what went wrong in them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CHUNK = 300
"""Commands of one process: a new one begins with fresh files."""


@dataclass
class Hunt:
    """How many commands were run, and the faults that were found."""

    commands: int = 0
    faults: list[dict[str, Any]] = field(default_factory=list)


def hunt(kind: str, *, count: int = 0, seconds: float = 0.0, seed: int = 0) -> Hunt:
    """Run `count` command lines or studies in one process, or as many as fit in `seconds` in one after the other."""
    actual, end = Hunt(), time.monotonic() + seconds
    while True:
        left = end - time.monotonic() if seconds else 3600.0
        _run(kind, seed, count or CHUNK, max(1.0, left), actual)
        seed += 1
        if not seconds or time.monotonic() >= end:
            return actual


def _run(kind: str, seed: int, count: int, seconds: float, actual: Hunt) -> None:
    with tempfile.TemporaryDirectory(prefix="hunt-") as place:
        log, world = Path(place) / "log", Path(place) / "a" / "b" / "world"
        world.mkdir(parents=True)
        environment = {**os.environ, "GRAPHTRIAL_HOME": str(Path(place) / "home"), "GRAPHTRIAL_OFFLINE": "1"}
        environment.pop("GRAPHTRIAL_MIRROR", None)
        environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        line = [sys.executable, "-m", "tests.fuzz.child", kind, str(seed), str(count), str(seconds), str(log)]
        done = subprocess.run(
            line, cwd=world, env=environment, capture_output=True, text=True, errors="replace", check=False
        )
        notes = [json.loads(text) for text in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
    actual.commands += sum("words" in note and "fault" not in note for note in notes)
    actual.faults += [{"seed": seed, **note} for note in notes if "fault" in note]
    if not notes or "end" not in notes[-1]:
        last = notes[-1] if notes else {"words": ["before the first command"]}
        actual.faults.append(
            {"seed": seed, **last, "fault": f"the process ended with {done.returncode}: {done.stderr[-1500:]}"}
        )


def main(kind: str, seconds: str, seed: str = "1") -> None:
    """Hunt by hand: python -m tests.fuzz.hunt commands 600."""
    actual = hunt(kind, seconds=float(seconds), seed=int(seed))
    for fault in actual.faults:
        print(json.dumps(fault, indent=1))
    print(f"{actual.commands} {kind}, {len(actual.faults)} faults")


if __name__ == "__main__":
    main(*sys.argv[1:])
