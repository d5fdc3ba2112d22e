"""Diagnosis of machine, packages, caches, raw files and store, with advice."""

from __future__ import annotations

from pathlib import Path

from graphtrial.doctor.caches import check_cache, check_raw_files
from graphtrial.doctor.clean import clean
from graphtrial.doctor.finding import Finding
from graphtrial.doctor.machine import check_machine, check_packages
from graphtrial.doctor.results import check_store, check_study


def examine(store: Path, study: str | None = None) -> list[Finding]:
    """Check machine, packages, cache, raw files, store and, if named, a study in it."""
    findings = [*check_machine(), *check_packages(), *check_cache(), *check_raw_files(), *check_store(store)]
    return [*findings, *check_study(store, study)] if study is not None else findings


__all__ = ["Finding", "clean", "examine"]
