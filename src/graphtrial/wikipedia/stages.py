"""Stages that are done once: each is a folder whose name is the digest of all that decides what is in it."""

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
"""Raised whenever a stage gives another result for the same inputs."""
REPORT = "report.json"


@dataclass(frozen=True)
class StageResult:
    """A finished stage: where it is, what it counted, whether it was there before."""

    name: str
    folder: Path
    key: str
    report: Mapping[str, Any] = field(default_factory=dict)
    kept: bool = True
    seconds: float = 0.0


Listen = Callable[[StageResult], None]


@dataclass(frozen=True)
class StageCache:
    """The folder of all stages; `listen` hears of each stage when it is done."""

    folder: Path
    listen: Listen = lambda made: None

    def stage(
        self,
        name: str,
        parameters: Mapping[str, Any],
        inputs: Sequence[StageResult],
        make: Callable[[Path], dict[str, Any]],
    ) -> StageResult:
        """Return the stage with these parameters and inputs; `make` fills its folder unless that was done before.

        `make` gets a temporary folder, which takes its name only when everything is in it: a killed stage is made
        again, a finished one never. What `make` returns is kept as the report.
        """
        key = digest({"stage": name, "version": VERSION, "parameters": parameters, "inputs": [m.key for m in inputs]})
        target = self.folder / f"{name}-{key[:16]}"
        kept, start = True, time.monotonic()

        def fill() -> None:
            nonlocal kept
            kept = False
            with atomic_folder(target) as temporary:
                report = make(temporary)
                shutil.rmtree(temporary / ".spill", ignore_errors=True)
                (temporary / REPORT).write_text(json.dumps(report, ensure_ascii=False, indent=1), encoding="utf-8")
                write_digests(temporary)

        report = cached(target, fill, lambda: _report(target))
        made = StageResult(name, target, key, report, kept, time.monotonic() - start)
        self.listen(made)
        return made


def stage_cache(folder: Path | None = None, listen: Listen | None = None) -> StageCache:
    """Return the workshop in a folder, by default one in the cache."""
    return StageCache(folder or cache_home() / "wikics", listen or (lambda made: None))


def identity(path: Path) -> dict[str, Any]:
    """Return what tells one version of an input file from another: its name, size and time of change.

    Dumps have tens of gigabytes, so that hashing them all would take longer than some of the stages.
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
