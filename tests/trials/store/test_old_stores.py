"""Stores of earlier releases: opened, read and reported without a change, and continued as a copy."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.frozen.stores import described, frozen_stores

from graphtrial.report import write_site
from graphtrial.trials import Store

LARGEST = 200_000


def test_there_is_one() -> None:
    assert "store-0.2.0.sqlite" in [path.name for path in frozen_stores()]


@pytest.fixture(params=frozen_stores(), ids=lambda path: path.stem)
def frozen(request: pytest.FixtureRequest) -> Path:
    """A frozen store."""
    path: Path = request.param
    return path


def test_rows_verdicts_and_curves_are_those_of_the_release(frozen: Path) -> None:
    before = frozen.read_bytes()
    assert len(before) < LARGEST
    actual = described(Store(frozen, read_only=True))
    expected = json.loads(frozen.with_suffix(".json").read_text(encoding="utf-8"))
    assert actual["trials"] == expected["trials"]
    assert actual["rows"].keys() == expected["rows"].keys(), "the ids of rows have changed"
    for name, row in actual["rows"].items():
        wanted = expected["rows"][name]
        assert numbers(row) == pytest.approx(numbers(wanted), rel=1e-12, nan_ok=True)
        assert row | {"test": None} == wanted | {"test": None}
    assert {row["verdict"] for row in actual["rows"].values()} >= {"reproduced", "inconclusive", "not comparable"}
    assert frozen.read_bytes() == before
    assert not list(frozen.parent.glob(f"{frozen.name}-*")), "reading leaves no files behind"


def numbers(row: dict[str, Any]) -> list[float]:
    return [math.nan if value is None else value for value in row["test"] or ()]


@pytest.mark.slow
def test_report_is_written_from_a_copy(frozen: Path, tmp_path: Path) -> None:
    copy = shutil.copy(frozen, tmp_path / "store.sqlite")
    page = write_site(Store(Path(copy), read_only=True), tmp_path / "site")
    assert "inconclusive" in page.read_text(encoding="utf-8")
    assert Path(copy).read_bytes() == frozen.read_bytes()


def test_new_trials_are_added_to_a_copy(frozen: Path, tmp_path: Path) -> None:
    store = Store(Path(shutil.copy(frozen, tmp_path / "store.sqlite")))
    before = store.trials()
    store.start(replace(before[0].spec, seed=12345), before[0].metric, before[0].higher_is_better, {})
    assert len(store.trials()) == len(before) + 1
