"""The contestants of kernels do the work they are timed for. Nothing is timed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks import kernels
from benchmarks.protocol import SkipError


def checksum(contest: Callable[..., None], monkeypatch: pytest.MonkeyPatch, **arguments: Any) -> float:
    """Return the report of a contestant's first repetition."""
    monkeypatch.setattr(kernels, "pin_to_one_core", lambda: None)
    result: list[float] = []

    def tick(seconds: float, actual: float) -> None:
        result.append(actual)
        raise SystemExit

    with pytest.raises(SystemExit):
        contest(ready=lambda: None, tick=tick, **arguments)
    return result[0]


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "dataset", "settings"), kernels.BESIDE)
def test_both_contestants_compute_the_same_matrix(
    kernel: str, dataset: str, settings: dict[str, Any], mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("grakel", reason="GraKeL is not installed")
    work = {"kernel": kernel, "dataset": dataset, "settings": settings, "graphs": 20}
    ours = checksum(kernels.graphtrial, monkeypatch, **work)
    assert checksum(kernels.grakel, monkeypatch, **work) == pytest.approx(ours)
    assert ours > 20


def test_missing_dataset_is_skipped_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SkipError, match="GRAPHTRIAL_MIRROR"):
        checksum(kernels.graphtrial, monkeypatch, kernel="wl", dataset="mcf-7", settings={}, graphs=0)


def test_quick_matches_are_small() -> None:
    quick, whole = list(kernels.matches(quick=True)), list(kernels.matches(quick=False))
    assert [match.name for match in quick] == [match.name for match in whole]
    beside = [match for match in quick if len(match.sides) == 2]
    assert len(beside) == 3
    assert all(side.arguments["graphs"] for match in quick for side in match.sides)
