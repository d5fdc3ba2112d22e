from __future__ import annotations

import dataclasses
import statistics
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from graphtrial.results import markdown, result_rows
from graphtrial.results.statistics.summary import summarise
from graphtrial.studies import ModelEntry, Study
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.trials import Store, TrialSpec


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with four finished trials of GatedGCN on CSL and one that failed."""
    study = Study("s", "csl", (ModelEntry("gatedgcn", encodings=("laplacian:20,sign=absolute",)),), seeds=1)
    built = Store(tmp_path / "results" / "store.sqlite")
    for number, spec in enumerate(study.trials()):
        _start(built, spec)
        epochs = [Epoch(n, 1e-3, 1.0, 2.0 / n, 90.0, 0.5) for n in range(1, 5 + number)]
        if number < 4:
            built.finish(spec.id, Outcome("done", 105407, epochs, {"train": 100.0, "val": 90.0, "test": 98.0 + number}))
        else:
            built.mark(spec.id, "failed", "a traceback")
    return built


def _start(store: Store, spec: TrialSpec) -> None:
    environment = {"python": "3", "system": "s", "machine": "m", "cpu": "c", "packages": {}, "code": "x"}
    store.start(spec, "accuracy", True, environment)


def test_summary_agrees_with_numpy() -> None:
    values = [3.0, 1.0, 4.0, 1.5]
    actual = summarise(values)
    assert actual is not None
    assert actual.mean == pytest.approx(np.mean(values))
    assert actual.std == pytest.approx(np.std(values, ddof=1))
    assert (actual.min, actual.max, actual.n) == (1.0, 4.0, 4)
    assert summarise([]) is None
    assert summarise([2.0]).std is None  # type: ignore[union-attr]


def test_row_summarises_trials_with_published_score(store: Store) -> None:
    (row,) = result_rows(store.trials())
    result = row.to_dict()
    std = statistics.stdev([98, 99, 100, 101])
    half = scipy.stats.t.ppf(0.975, 3) * std * (1 / 4 + 1 / 4) ** 0.5  # five folds: a quarter as many tested as trained
    interval = {"ci_low": pytest.approx(99.5 - half), "ci_high": 100.0}  # the range of an accuracy
    assert result["test"] == {"mean": 99.5, "std": std, "min": 98.0, "max": 101.0, "n": 4} | interval
    assert result["statuses"] == {"done": 4, "failed": 1}
    assert (result["params"], result["epochs"], result["epoch_seconds"]) == (105407, 5.5, 0.5)
    assert result["published"]["test"]["mean"] == 99.6
    assert result["published"]["params"] == 105407
    assert len(result["trials"]) == 5


def test_trials_of_different_settings_are_never_mixed(store: Store) -> None:
    other = store.trials()[0].spec
    for changed in (
        dataclasses.replace(other, rules=other.rules.changed({"optimizer.lr": 0.1})),
        dataclasses.replace(other, encoding=None),
        dataclasses.replace(other, data="0" * 64),
    ):
        _start(store, changed)
    assert [len(row.trials) for row in result_rows(store.trials())] == [5, 1, 1, 1]


def test_markdown_has_the_columns_of_the_papers(store: Store) -> None:
    text = markdown(result_rows(store.trials()))
    shown = (
        "| GatedGCN | laplacian:20,sign=absolute | 4 | 105407 | 99.500±1.291 | [96.595, 100.000] | 98.000 | 101.000 |"
    )
    assert shown in text
    assert "| 100.000±0.000 | 5.5 |" in text
    assert "| 4, 1 failed | 99.600±1.083 | reproduced |" in text
    assert "sample standard deviation" in text


def test_changed_rules_are_in_the_title(store: Store) -> None:
    spec = store.trials()[0].spec
    _start(store, dataclasses.replace(spec, rules=spec.rules.changed({"stopping.max_epochs": 3})))
    assert "CHANGED RULES: stopping.max_epochs = 3" in markdown(result_rows(store.trials()))
