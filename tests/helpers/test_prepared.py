"""Datasets of an earlier session are used only if nothing that affects them has changed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock, Timeout
from tests.helpers import prepared


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package."""
    copy = tmp_path / "graphtrial"
    shutil.copytree(prepared.SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__", "shipped", "published"))
    monkeypatch.setattr(prepared, "SOURCE", copy)
    return copy


@pytest.mark.slow
@pytest.mark.parametrize("file", ["datasets/csl.py", "core/compiler.py", "graphs/storage.py", "tasks/base.py"])
def test_a_changed_source_changes_the_fingerprint(file: str, source: Path) -> None:
    before = prepared.fingerprint(None)
    with (source / file).open("a") as stream:
        stream.write("\n")
    assert prepared.fingerprint(None) != before


@pytest.mark.slow
def test_raw_files_count_and_the_command_line_does_not(source: Path, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    before = prepared.fingerprint(raw)
    (source / "cli" / "main.py").write_text("")
    assert prepared.fingerprint(raw) == before
    (raw / "zinc.zip").write_text("")
    assert prepared.fingerprint(raw) != before


def test_what_is_kept_is_restored_once_and_of_other_sources_removed(tmp_path: Path) -> None:
    name = "csl-0123456789abcdef"
    first, second, cached = tmp_path / "first", tmp_path / "second", tmp_path / "kept" / "now"
    for folder in (f"first/datasets/{name}", "first/datasets/stranger-0123456789abcdef", "kept/before/x"):
        (tmp_path / folder).mkdir(parents=True)
    (first / "datasets" / name / "graphs").write_text("content")
    prepared.keep(first, cached)
    assert [path.name for path in cached.parent.rglob("*")] == ["now", name, "graphs"]
    prepared.restore(cached, second)
    assert (second / "datasets" / name / "graphs").read_text() == "content"
    shutil.rmtree(second / "datasets")
    prepared.restore(cached, second)  # another process of the same session
    assert list(second.iterdir()) == []


def test_processes_that_end_together_keep_datasets_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, cached = tmp_path / "home", tmp_path / "kept" / "now"
    (home / "datasets" / "csl-0123456789abcdef").mkdir(parents=True)
    locked, copytree = [], shutil.copytree

    def copy(*arguments: Any, **options: Any) -> Any:
        with pytest.raises(Timeout):
            FileLock(tmp_path / "kept.lock").acquire(timeout=0)
        locked.append(True)
        return copytree(*arguments, **options)

    monkeypatch.setattr(prepared.shutil, "copytree", copy)
    prepared.keep(home, cached)
    assert locked == [True]
