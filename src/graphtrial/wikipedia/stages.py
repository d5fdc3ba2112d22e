"""Cached pipeline stages: each is a folder named by the digest of its parameters and inputs."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphtrial.core.cache import cached, verify_digests, write_digests
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import atomic_folder, cache_home, read_json
from graphtrial.core.spec import digest

VERSION = 1
"""Incremented whenever a stage gives another result for the same inputs."""
REPORT = "report.json"


@dataclass(frozen=True)
class StageResult:
    """Finished stage: folder, digest, report of counts, whether it came from the cache (`is_cached`), and run time."""

    name: str
    folder: Path
    key: str
    report: Mapping[str, Any] = field(default_factory=dict)
    is_cached: bool = True
    seconds: float = 0.0


Listen = Callable[[StageResult], None]


@dataclass(frozen=True)
class StageCache:
    """Cache folder of all stages; `listen` is called with each finished stage."""

    folder: Path
    listen: Listen = lambda result: None

    def stage(
        self,
        name: str,
        parameters: Mapping[str, Any],
        inputs: Sequence[StageResult],
        make: Callable[[Path], dict[str, Any]],
    ) -> StageResult:
        """Return the stage with these parameters and inputs, built by `make` unless it is cached.

        `make` fills a temporary folder, renamed when complete, and returns the report; a killed stage is rebuilt.
        """
        key = digest({"stage": name, "version": VERSION, "parameters": parameters, "inputs": [m.key for m in inputs]})
        target = self.folder / f"{name}-{key[:16]}"
        is_cached, start = True, time.monotonic()

        def fill() -> None:
            nonlocal is_cached
            is_cached = False
            with atomic_folder(target) as temporary:
                report = make(temporary)
                shutil.rmtree(temporary / ".spill", ignore_errors=True)
                (temporary / REPORT).write_text(json.dumps(report, ensure_ascii=False, indent=1), encoding="utf-8")
                write_digests(temporary)

        report = cached(target, fill, lambda: _report(target))
        result = StageResult(name, target, key, report, is_cached, time.monotonic() - start)
        self.listen(result)
        return result


def stage_cache(folder: Path | None = None, listen: Listen | None = None) -> StageCache:
    """Return the stage cache in a folder, by default in the user's cache."""
    return StageCache(folder or cache_home() / "wikics", listen or (lambda result: None))


def identity(path: Path) -> dict[str, Any]:
    """Return name, size and modification time of an input file, its identity in cache keys.

    Hashing the content of dumps, tens of gigabytes, would take longer than some of the stages.
    """
    try:
        facts = path.stat()
    except OSError as error:
        raise GraphTrialError(f"cannot read {path}: {error.strerror or error}") from error
    return {"name": path.name, "size": facts.st_size, "changed": facts.st_mtime_ns}


def _report(folder: Path) -> dict[str, Any]:
    verify_digests(folder)
    report: dict[str, Any] = read_json(folder / REPORT)
    return report
