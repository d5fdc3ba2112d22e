"""Plots of prepared datasets for the report, cached."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphtrial.datasets import load
from graphtrial.plots import cached
from graphtrial.plots.cached import cached_plots


def test_plots_prepare_no_dataset(own_home: Path) -> None:
    assert cached_plots("csl", "0" * 64) == ({}, ())
    assert cached_plots("of-a-plug-in-that-is-not-loaded", "0" * 64) == ({}, ())
    assert not (own_home / "datasets").exists()


@pytest.mark.slow
def test_plots_are_cached_by_content(own_home: Path) -> None:
    pytest.importorskip("matplotlib")
    data = load("csl").hash
    facts, pictures = cached_plots("csl", data)
    assert (facts["graphs"], facts["hash"]) == (150, data)
    assert [path.name for path in pictures] == ["csl-graphs.png", "csl-statistics.png"]
    drawn = [path.stat().st_mtime_ns for path in pictures]
    assert [path.stat().st_mtime_ns for path in cached_plots("csl", data)[1]] == drawn
    assert cached_plots("csl", "0" * 64) == ({}, ())


def test_missing_matplotlib_gives_metadata_without_plots(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached, "find_spec", lambda name: None)
    data = load("csl").hash
    facts, pictures = cached_plots("csl", data)
    assert (facts["graphs"], pictures) == (150, ())
    assert not (own_home / "pictures").exists()
    assert cached_plots("csl", "0" * 64) == ({}, ())
