"""Comparison, report and table of a store from Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.sites import record

import graphtrial as gt
from graphtrial.core.errors import GraphTrialError


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "store.sqlite"
    store = gt.Store(str(path))
    for model, score in (("gcn", 50.0), ("gin", 80.0)):
        study = gt.Study("s", "csl", (gt.ModelEntry(model, {"width": 6}),), seeds=2, splits=5)
        for number, spec in enumerate(study.trials()):
            record(store, spec, score + number % 3, epochs=2)
    return path


@pytest.mark.parametrize("kind", [str, Path, gt.Store])
def test_compare_takes_a_store_or_its_path(path: Path, kind: type) -> None:
    (comparison,) = gt.compare("gin", "gcn", store=kind(path), datasets=["csl"], test="wilcoxon")
    assert comparison.difference.mean == pytest.approx(30)
    with pytest.raises(GraphTrialError, match=r"no row is called .gat.*The models are gcn/layers=4, gin"):
        gt.compare("gin", "gat", store=kind(path))


def test_results_become_a_data_frame(path: Path) -> None:
    pytest.importorskip("pandas")
    frame = gt.load_results(path).to_pandas()
    assert len(frame) == 2


def test_report_returns_its_first_page(path: Path, tmp_path: Path) -> None:
    page = gt.report(str(tmp_path / "site"), store=path, pictures=False)
    assert "gin" in page.read_text(encoding="utf-8").lower()


def test_reading_a_store_that_does_not_exist_creates_none(tmp_path: Path) -> None:
    with pytest.raises(GraphTrialError, match="there is no store"):
        gt.load_results(tmp_path / "none.sqlite")
    assert not list(tmp_path.iterdir())
