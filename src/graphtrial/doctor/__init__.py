"""A look at everything that could be wrong on this machine, and what to do about it."""

from __future__ import annotations

from pathlib import Path

from graphtrial.doctor.caches import look_at_cache, look_at_raw_files
from graphtrial.doctor.clean import clean
from graphtrial.doctor.finding import Finding
from graphtrial.doctor.machine import look_at_machine, look_at_packages
from graphtrial.doctor.results import look_at_store, look_at_study


def examine(store: Path, study: str | None = None) -> list[Finding]:
    """Look at the machine, the packages, the cache, the raw files, the store and, if one is named, a study in it."""
    found = [*look_at_machine(), *look_at_packages(), *look_at_cache(), *look_at_raw_files(), *look_at_store(store)]
    return [*found, *look_at_study(store, study)] if study is not None else found


__all__ = ["Finding", "clean", "examine"]
