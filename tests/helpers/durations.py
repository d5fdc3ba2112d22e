"""How long tests take: measured by `make durations` on a quiet machine, committed, and read to tell the slow ones."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

FILE = Path(__file__).parents[1] / "durations.json"
SHORTEST = 0.3
"""Seconds from which on a test, with all its cases, is listed."""
SLOW = 0.5
"""Seconds from which on `make quick` leaves it out."""


def function(nodeid: str) -> str:
    """Return the name of a test without its parameters."""
    return nodeid.partition("[")[0]


def read() -> dict[str, float]:
    """Return the seconds of each listed test with all its cases."""
    listed: dict[str, float] = json.loads(FILE.read_text(encoding="utf-8"))
    return listed


class Durations:
    """Measures tests.

    What a fixture builds for all tests of a file counts for each test that uses it, since in another selection of tests
    another one is the first.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._fixtures: dict[str, float] = {}
        self._users: dict[str, set[str]] = {}

    @contextmanager
    def measured(self, nodeid: str, fixtures: Collection[str]) -> Iterator[None]:
        """Measure one test with its fixtures and all that it waited for."""
        before, shared = time.monotonic(), sum(self._fixtures.values())
        yield
        name = function(nodeid)
        self.add(name, time.monotonic() - before - (sum(self._fixtures.values()) - shared))
        file = nodeid.partition("::")[0]
        self._users.setdefault(name, set()).update(f"{file}::{fixture}" for fixture in fixtures)

    @contextmanager
    def measured_fixture(self, file: str, fixture: str) -> Iterator[None]:
        """Measure a fixture of all tests of a file."""
        before = time.monotonic()
        yield
        name = f"{file}::{fixture}"  # built once for each of its parameters
        self._fixtures[name] = self._fixtures.get(name, 0.0) + time.monotonic() - before

    def totals(self) -> dict[str, float]:
        """Return the seconds of each test with those of its file's fixtures."""
        return {
            name: seconds + sum(self._fixtures.get(fixture, 0.0) for fixture in self._users.get(name, ()))
            for name, seconds in self.seconds.items()
        }

    def add(self, name: str, seconds: float) -> None:
        """Add a case of a test, of this process or of another."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def write(self) -> None:
        """Rewrite the list; entries of tests that were not run are kept, unless the test was removed."""
        previous = {name: seconds for name, seconds in read().items() if name not in self.seconds and _exists(name)}
        durations = {
            name: round(seconds, 1) for name, seconds in {**previous, **self.totals()}.items() if seconds >= SHORTEST
        }
        FILE.write_text(json.dumps(durations, indent=0, sort_keys=True) + "\n", encoding="utf-8")


def _exists(name: str) -> bool:
    file, _, test = name.partition("::")
    path = FILE.parents[1] / file
    return path.is_file() and f"def {test.rpartition('::')[2]}(" in path.read_text(encoding="utf-8")
