"""The command `tune`, and studies that declare it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.cli import CliRunner, Result

import graphtrial as gt
from graphtrial.cli.main import app
from graphtrial.trials.store.searches import load_searches

TUNE = ["tune", "csl", "gin", "--budget", "2trials", "--params", "3k", "--encoding", "laplacian:4"]
SHORT = ["--max-epochs", "2", "--seeds", "1", "--splits", "1", "--workers", "0"]
STUDY = """
title = "t"
dataset = "csl"
seeds = 1
splits = 1
rules = { stopping.max_epochs = 2 }
tune = { budget = "2trials", space = "optimizer" }
[[models]]
name = "gcn"
budget = "3k"
[[models]]
name = "gin"
budget = "3k"
"""


def call(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def test_tune_prints_configurations_and_the_tested_row(tmp_path: Path) -> None:
    store = str(tmp_path / "s.sqlite")
    result = call(*TUNE, *SHORT, "--store", store)
    assert result.exit_code == 0, result.output
    for text in ("random search, 2trials", "chosen: number", "of 2 configurations, after 4 epochs", "Tried", "CSL"):
        assert text in result.output
    again = json.loads(call(*TUNE, *SHORT, "--store", store, "--json").stdout)
    assert len(again["configurations"]) == 2
    assert all(set(one) >= {"settings", "rules", "encoding", "val", "epochs"} for one in again["configurations"])
    assert len(gt.Store(Path(store)).trials()) == 3  # nothing was run twice
    (search,) = load_searches(gt.Store(Path(store)))
    assert search.id == again["id"]
    assert again["row"]["tuning_epochs"] == 4
    row = json.loads(call("export", "csl", "--format", "json", "--store", store).stdout)[0]
    assert (row["tuning_configurations"], row["tuning_epochs"]) == (2, 4)


def test_python_gives_the_same_search(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    best = gt.tune(
        "csl",
        gt.nn.GIN,
        budget="2trials",
        params="3k",
        encoding="laplacian:4",
        rules={"stopping.max_epochs": 2},
        seeds=1,
        splits=1,
        store=store,
    )
    printed = json.loads(call(*TUNE, *SHORT, "--store", str(store), "--json").stdout)
    assert printed["id"] == best.search.tuning.id
    assert printed["configurations"][printed["winner"]]["settings"] == best.chosen.settings
    assert best.row.tuning is not None
    assert best.row.tuning.configurations == 2


def test_a_study_tunes_every_model_under_the_same_budget(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    assert call("validate", str(file)).exit_code == 0
    result = call("study", str(file), "--workers", "0", "--store", str(tmp_path / "s.sqlite"), "--json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    tried = sorted((row["model"], row["tuning_configurations"] or 0) for row in rows)
    assert tried == [("gcn", 0), ("gcn", 2), ("gin", 0), ("gin", 2)]  # as declared, and tuned


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (("3k", "30k", 'space = "optimizer"', 'space = "nothing"'), "no space called 'nothing'"),
        (("2trials", "0trials"), "'0trials' is no tuning budget"),
        (('budget = "2trials"', 'budget = "2trials", serch = "tpe"'), "has no setting 'serch'. Did you mean 'search'"),
        (('name = "gin"', 'name = "gin"\ngrid = { layers = [2, 4] }'), "needs one encoding and one value"),
    ],
)
def test_a_study_that_cannot_be_tuned_is_refused(tmp_path: Path, changes: tuple[str, ...], reason: str) -> None:
    text = STUDY
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        text = text.replace(old, new)
    file = tmp_path / "study.toml"
    file.write_text(text)
    result = call("study", str(file), "--workers", "0", "--store", str(tmp_path / "s.sqlite"))
    assert result.exit_code == 2
    assert reason in result.output
    assert not gt.Store(tmp_path / "s.sqlite").trials()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--budget", "ten"], "'ten' is no tuning budget"),
        (["--budget", "100k"], "--params 100k is the parameter budget"),
        (["--space", "nope"], "no space called 'nope'"),
        (["--search", "gridd"], "Did you mean 'grid'"),
        (["--params", "10"], "exceeds the parameter budget"),
        (["--protocol", "tudataset/gnn"], "draws its folds by the seed"),
        (["--set", "depth=3"], "has no setting 'depth'"),
        (["--executor", "processes:1"], "--workers is for local processes"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, options: list[str], reason: str) -> None:
    result = call(*TUNE, *SHORT, "--store", str(tmp_path / "s.sqlite"), *options)
    assert result.exit_code == 2
    assert reason in result.output
    assert len(result.output.strip().splitlines()) == 1


def test_the_report_of_a_store_with_searches(tmp_path: Path) -> None:
    store = str(tmp_path / "s.sqlite")
    assert call(*TUNE, *SHORT, "--store", store).exit_code == 0
    result: Any = call("report", "--store", store, "--out", str(tmp_path / "site"))
    assert result.exit_code == 0, result.output
    assert "Tuning core-h" in (tmp_path / "site" / "report.md").read_text()


def test_studies_list_doctor_and_export_know_their_searches(tmp_path: Path) -> None:
    file, store = tmp_path / "study.toml", str(tmp_path / "s.sqlite")
    file.write_text(STUDY.replace('[[models]]\nname = "gin"\nbudget = "3k"', ""))
    planned = call("study", str(file), "--dry-run", "--store", store)
    assert "then 1 searches, 0 of them done" in planned.output
    assert call("study", str(file), "--workers", "0", "--store", store).exit_code == 0
    assert "then 1 searches, 1 of them done" in call("study", str(file), "--dry-run", "--store", store).output
    checked = call("doctor", "--study", str(file), "--store", store, "--json")
    results = [one["result"] for one in json.loads(checked.stdout)["findings"] if one["area"] == "study"]
    assert results == ["1 of 1 trials are finished, 0 started, 0 missing", "1 of 1 searches are finished"]
    rows = json.loads(call("export", str(file), "--format", "json", "--store", store).stdout)
    assert [row["tuning_configurations"] for row in rows] == [None, 2]  # before and after


def test_the_catalog_lists_planned_searches() -> None:
    entries = {entry["name"]: entry for entry in json.loads(call("list", "studies", "--json").stdout)}
    assert (entries["tuning/aqsol"]["searches"], entries["tuning/aqsol"]["searches_done"]) == (4, 0)
    assert entries["tuning/nested"]["searches"] == 2 * 2 * 10
    assert entries["demo"]["searches"] == 0


def test_a_choice_that_has_seen_labels_of_other_splits_is_warned_of(tmp_path: Path) -> None:
    words = [*TUNE, *SHORT, "--store", str(tmp_path / "s.sqlite")]
    assert "warning" not in call(*words).output
    words[words.index("--splits") + 1] = "5"
    words[words.index("--max-epochs") + 1] = "1"
    assert "30 of the 30 validation examples of the search are test examples of other splits" in call(*words).stderr


def test_eta_is_an_option_of_successive_halving(tmp_path: Path) -> None:
    words = [*TUNE, *SHORT, "--search", "halving", "--eta", "2", "--store", str(tmp_path / "s.sqlite"), "--json"]
    values = json.loads(call(*words).stdout)
    assert values["eta"] == 2
    assert sorted(one["epochs"] for one in values["configurations"]) == [1, 2]
    assert "--eta" in call(*words[:-1], "--eta", "1").output
