"""The searches of a tuned row on its page."""

from __future__ import annotations

import json
import re
import sys
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.searched import declared, record_search

from graphtrial.report.build import write_site
from graphtrial.trials import Store

SCORES = [50.0, 70.0, 40.0, 65.0, 55.0, 60.0, 45.0, 52.0, 58.0, 41.0]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path / "store.sqlite")


def page_of(store: Store, folder: Path) -> str:
    write_site(store, folder)
    (page,) = (folder / "rows").glob("*.html")
    return page.read_text(encoding="utf-8")


def charts(page: str) -> dict[str, list[dict[str, Any]]]:
    figures = re.findall(r'data-title="([^"]*)".*?<script type="application/json">(.*?)</script>', page, re.DOTALL)
    return {unescape(title): json.loads(data)["views"] for title, data in figures}


def test_a_tuned_row_shows_its_configurations_costs_and_importance(store: Store, tmp_path: Path) -> None:
    (tuning,) = declared("10trials")
    search = record_search(store, tuning, SCORES)
    page = page_of(store, tmp_path / "site")
    assert "10 configurations, 30 epochs" in page
    first = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "All trials</a> but 10 of hyperparameter searches, which have no test score." in first
    assert page.count("done, chosen") == 1
    views = charts(page)
    by_cost, by_epochs = views["Score against cost"]
    points = [point for series in by_cost["series"] for point in series["points"]]
    assert sorted(point["y"] for point in points) == sorted(SCORES)
    (chosen,) = by_cost["series"][1]["points"]
    assert (chosen["y"], chosen["x"]) == (70, pytest.approx(search.core_seconds[1] / 60, rel=1e-4))
    assert {point["x"] for series in by_epochs["series"] for point in series["points"]} == {3}
    importance = {item["name"]: item["value"] for item in views["Which parameters mattered"][0]["items"]}
    assert set(importance) == {"layers", "residual", "optimizer.lr"}
    assert sum(importance.values()) == pytest.approx(1.0, abs=0.01)
    against_configurations, against_epochs = views["Best score so far"]
    over, as_searched = against_configurations["series"]
    assert as_searched["y"] == [50, *[70] * 9]
    assert over["y"][0] == pytest.approx(sum(SCORES) / 10)
    assert over["low"][-1] == over["y"][-1] == over["high"][-1] == 70
    assert against_epochs["x"]["label"] == "epochs"


def test_paused_configurations_have_a_cost_and_no_score(store: Store, tmp_path: Path) -> None:
    (tuning,) = declared("9trials", "halving")
    record_search(store, tuning, [None, None, 60.0, None, None, None, 55.0, None, None])
    page = page_of(store, tmp_path / "site")
    assert page.count(">paused<") == 7
    assert "Best score so far" not in charts(page)  # of successive halving, few configurations have a final score


def test_a_nested_selection_shows_every_fold(store: Store, tmp_path: Path) -> None:
    for tuning in declared("3trials", protocol="tudataset/nested", splits=2):
        record_search(store, tuning, [50.0, 60.0 + (tuning.fold or 0), 40.0])
    page = page_of(store, tmp_path / "site")
    assert "for each of 2 outer folds: 6 configurations" in page
    assert "selected for each fold on its training part alone" in page
    assert page.count("done, chosen") == 2
    assert charts(page)["Best score so far"][0]["series"][1]["y"] == [50, 60.5, 60.5]


def test_without_optuna_the_page_lacks_the_importance_alone(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tuning,) = declared("10trials")
    record_search(store, tuning, SCORES)
    monkeypatch.setitem(sys.modules, "optuna", None)
    views = charts(page_of(store, tmp_path / "site"))
    assert "Best score so far" in views
    assert "Which parameters mattered" not in views
