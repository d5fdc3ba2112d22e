"""`graphtrial report`, `reproduce` and `store ship` from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.cli import CliRunner, Result
from tests.helpers.stores import change, forge

from graphtrial.cli.main import app
from graphtrial.shipped import packed
from graphtrial.trials import Store

QUICK = ["--width", "6", "--layers", "1", "--max-epochs", "2", "--workers", "0", "--splits", "2", "--seeds", "1"]


def call(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with two real trials in the working directory."""
    monkeypatch.chdir(tmp_path)
    result = call("run", "csl", "gcn", "--store", "mine/store.sqlite", *QUICK)
    assert result.exit_code == 0, result.output
    return "mine/store.sqlite"


def printed(result: Result) -> Any:
    return json.loads(result.stdout)


@pytest.mark.parametrize("command", ["report", "reproduce", "store ship"])
def test_help_has_an_example(command: str) -> None:
    assert "graphtrial " + command in call(*command.split(), "--help").stdout.partition("Example:")[2]


@pytest.mark.slow
def test_report_has_metadata_and_plots_of_a_prepared_dataset(store: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = call("report", "--store", store, "--out", "site")
    assert result.exit_code == 0, result.output
    assert "site/index.html" in result.stdout
    page = (tmp_path / "site" / "datasets" / "csl.html").read_text(encoding="utf-8")
    assert page.count("<img ") == 2
    assert len(list((tmp_path / "site" / "pictures").glob("csl-*.png"))) == 2
    assert "Statistics of CSL" in page
    assert "--store mine/store.sqlite" in next((tmp_path / "site" / "trials").glob("*.html")).read_text(
        encoding="utf-8"
    )
    assert "<img " not in _dataset_page(store, "--no-pictures")


def _dataset_page(store: str, *options: str) -> str:
    assert call("report", "--store", store, "--out", "plain", *options).exit_code == 0
    return Path("plain/datasets/csl.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_row_and_trial_are_reproduced_bit_exact(store: str) -> None:
    trial = Store(Path(store)).trials()[0].id
    one = call("reproduce", trial[:8], "--store", store, "--workers", "0")
    assert one.exit_code == 0, one.output
    assert "same bits" in one.stdout
    (row,) = printed(call("report", "--store", store, "--json"))
    assert row["trials"][0] == trial
    page = next(Path(_site(store), "rows").glob("row-*.html")).stem
    both = call("reproduce", page, "--store", store, "--workers", "0", "--json")
    assert both.exit_code == 0, both.output
    assert [(r["verdict"], r["holds"]) for r in printed(both)] == [("same bits", True)] * 2


def _site(store: str) -> str:
    assert call("report", "--store", store, "--out", "rows-site", "--no-pictures").exit_code == 0
    return "rows-site"


def test_forged_result_is_detected(store: str) -> None:
    trial = Store(Path(store)).trials()[0].id
    change(Path(store), "UPDATE trials SET test = test + 1")
    result = call("reproduce", trial, "--store", store, "--workers", "0")
    assert result.exit_code == 2
    assert f"trial {trial} in the store cannot be read (it was changed after it was written)" in result.stderr
    forge(Path(store), "UPDATE trials SET test = test")  # write access to a store includes its digests
    result = call("reproduce", trial, "--store", store, "--workers", "0")
    assert result.exit_code == 1
    assert "differs" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["reproduce", "zzz"], "no trial begins with 'zzz'"),
        (["reproduce", "row-zzz"], "no row begins with 'row-zzz'"),
        (["store", "ship", "--out", "copy.sqlite", "--store", "nowhere/store.sqlite"], "there is no store"),
    ],
)
def test_usage_error_is_one_line(words: list[str], message: str, store: str) -> None:
    result = call(*words, *([] if "--store" in words else ["--store", store]))
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.slow
def test_shipped_store_is_reported_and_reproduced(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = call("store", "ship", "--store", store, "--out", f"package/{packed.FILE}", "--json")
    assert result.exit_code == 0, result.output
    assert printed(result)["trials"] == 2
    monkeypatch.setattr(packed, "packed", lambda: tmp_path / "package" / packed.FILE)
    monkeypatch.setenv("GRAPHTRIAL_HOME", str(tmp_path / "home"))
    assert call("report", "--shipped", "--out", "site").exit_code == 0
    trial = next((tmp_path / "site" / "trials").glob("*.html"))
    assert f"graphtrial reproduce {trial.stem} --shipped" in trial.read_text(encoding="utf-8")
    again = call("reproduce", trial.stem, "--shipped", "--workers", "0")
    assert again.exit_code == 0, again.output
    assert "same bits" in again.stdout
