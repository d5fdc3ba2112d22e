"""Nested selection: one search for each outer fold, which never sees the test fold, and one row for all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.core.errors import GraphTrialError
from graphtrial.execution import run_trials
from graphtrial.nn.encoder import ENCODING_COLUMN
from graphtrial.results import result_rows
from graphtrial.results.commands import run_command
from graphtrial.results.compare import compare
from graphtrial.studies import ModelEntry, Study
from graphtrial.studies.tune_options import TuneOptions
from graphtrial.training.batches import Job
from graphtrial.training.trainer import train
from graphtrial.trials import Store
from graphtrial.trials.store.searches import load_searches
from graphtrial.trials.trial import make_job
from graphtrial.tuning.declaration import Tuning, declare_searches
from graphtrial.tuning.of_study import tunings_of
from graphtrial.tuning.space_files import read_space
from graphtrial.tuning.subject import Subject
from graphtrial.tuning.tune import tune

PROTOCOL = "tudataset/nested"
RULES = {"stopping.max_epochs": 2}
SPACE: dict[str, Any] = {"settings": {"node_layer": [True, False]}, "rules": {"optimizer.lr": [0.1, 0.001]}}
Declare = Callable[..., list[Tuning]]


@pytest.fixture
def searches() -> Declare:
    """Return a function that declares the searches of the structure-free baseline on CSL with degrees."""

    def make(budget: str = "2trials", folds: int = 2, seeds: int = 2, **options: Any) -> list[Tuning]:
        subject = Subject("csl", "deep-multisets", {"width": 4}, "laplacian:4", None, PROTOCOL, RULES)
        return declare_searches(subject, read_space(SPACE, "small"), TuneOptions(budget, **options), seeds, folds)

    return make


def garbled(job: Job, ids: np.ndarray) -> Job:
    """Return a training whose graphs of these ids have other classes and far larger encodings."""
    y, encoding = job.graphs.column("y"), job.graphs.column(ENCODING_COLUMN)
    classes, values = np.array(y.values), np.array(encoding.values)
    classes[ids] = (classes[ids] + 1) % 10
    for graph in ids:
        values[job.graphs.node_ptr[graph] : job.graphs.node_ptr[graph + 1]] = 1e6
    graphs = job.graphs.with_column("y", replace(y, values=classes))
    return replace(job, graphs=graphs.with_column(ENCODING_COLUMN, replace(encoding, values=values)))


def losses(job: Job) -> list[tuple[float, float, float]]:
    return [(epoch.train_loss, epoch.val_loss, epoch.val_score) for epoch in train(job).epochs]


def test_the_outer_test_fold_is_not_touched_by_selection(searches: Declare, store: Store) -> None:
    for tuning in searches():
        tuned = tune(tuning, store, workers=0)
        tested = make_job(tuned.tests[0].spec).test_ids
        assert [test.spec.split for test in tuned.tests] == [tuning.fold] * 2
        assert len(tested) == 15
        for proposal in tuned.proposals:
            (trial,) = proposal.trials
            job = make_job(trial)
            assert trial.split == tuning.fold
            assert not job.score_test
            assert not np.intersect1d(tested, np.concatenate([job.train_ids, job.val_ids])).size
            # The search has the same bits on a garbled test fold; one that sees a graph of it has not.
            assert losses(garbled(job, tested)) == losses(job)
            leaking = replace(job, val_ids=np.concatenate([job.val_ids, tested[:1]]))
            assert losses(garbled(leaking, tested)) != losses(leaking)


def test_the_runs_of_a_fold_test_the_same_graphs_and_hold_out_others(searches: Declare, store: Store) -> None:
    tuning, _ = searches()
    one, other = (make_job(test.spec) for test in tune(tuning, store, workers=0).tests)
    assert set(one.test_ids.tolist()) == set(other.test_ids.tolist())
    assert set(one.val_ids.tolist()) != set(other.val_ids.tolist())
    assert len(one.val_ids) in (13, 14)  # a tenth of the 135 that are not tested


def test_the_folds_are_one_row_with_the_choice_of_each(
    searches: Declare, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results = [tune(tuning, store, workers=0) for tuning in searches("3trials")]
    (row,) = result_rows(store.trials(), load_searches(store))
    assert len(row.trials) == 4
    assert row.name == "deep-multisets/laplacian:4/tuned"
    chosen = {each.tuning.fold: each.chosen.point for each in results}
    for choice in row.choices:
        assert {name: choice[name] for name in ("node_layer", "optimizer.lr")} == chosen[choice["split"]]
    assert row.changes == "stopping.max_epochs = 2"  # the searched learning rate is no change of the protocol
    means = [np.mean([test.scores["test"] for test in each.tests]) for each in results]
    summary = row.scores("test")
    assert summary is not None
    assert (summary.n, summary.mean) == (2, pytest.approx(np.mean(means)))
    assert summary.std == pytest.approx(np.std(means, ddof=1))
    assert row.tuning is not None
    assert row.tuning.configurations == 6
    assert run_command(row) is None  # no `graphtrial run` has several settings
    again = CliRunner().invoke(app, ["reproduce", row.id, "--workers", "0", "--store", str(store.path), "--json"])
    assert [one["verdict"] for one in json.loads(again.stdout)] == ["same bits"] * 4


def test_a_row_with_given_settings_stays_beside_the_selection(searches: Declare, store: Store) -> None:
    for tuning in searches():
        tune(tuning, store, workers=0)
    entry = ModelEntry("deep-multisets", {"width": 4, "node_layer": False}, ("laplacian:4",))
    kernel = ModelEntry("vertex-histogram")
    study = Study("given", "csl", (entry,), PROTOCOL, seeds=2, splits=2, rules={**RULES, "optimizer.lr": 0.1})
    run_trials(study.trials(), store, workers=0)
    run_trials(Study("kernel", "csl", (kernel,), PROTOCOL, seeds=2, splits=2).trials(), store, workers=0)
    rows = result_rows(store.trials(), load_searches(store))
    assert [(row.label, row.tuning is not None) for row in rows] == [
        ("deep-multisets", False),
        ("vertex-histogram", False),
        ("deep-multisets", True),
    ]
    (comparison,) = compare(rows, "deep-multisets/tuned", "vertex-histogram", test="wilcoxon")
    assert comparison.splits == 2
    assert not any("tuned" in note for note in comparison.notes)  # a kernel selects by itself
    assert [choice["penalty"] for choice in rows[1].choices]
    assert all(row.published is None for row in rows)


def test_a_study_selects_for_each_fold_and_leaves_kernels_alone() -> None:
    rows = (ModelEntry("deep-multisets", {"width": 4}, ("laplacian:4",)), ModelEntry("wl"))
    tunings = tunings_of(Study("s", "csl", rows, PROTOCOL, tune=TuneOptions("2trials"), splits=3))
    assert [(tuning.subject.model, tuning.fold) for tuning in tunings] == [
        ("deep-multisets", fold) for fold in range(3)
    ]
    assert len({tuning.id for tuning in tunings}) == 3


@pytest.mark.parametrize(
    ("model", "options", "reason"),
    [
        ("wl", {}, "nothing to tune"),
        ("gim", {}, "no kernel called 'gim'"),
        ("deep-multisets", {"tuning_splits": 2}, "its searches have one split each"),
    ],
)
def test_what_cannot_be_selected_is_one_line(model: str, options: dict[str, Any], reason: str) -> None:
    space = read_space(SPACE, "small")

    def declare() -> None:
        subject = Subject("csl", model, {"width": 4}, "laplacian:4", None, PROTOCOL, RULES)
        declare_searches(subject, space, TuneOptions("2trials", **options))

    with pytest.raises(GraphTrialError, match=reason) as error:
        declare()
    assert "\n" not in str(error.value)


def test_the_command_prints_every_fold(store: Store) -> None:
    words = "tune csl deep-multisets --protocol tudataset/nested --encoding laplacian:4 --budget 2trials --max-epochs 1"
    done = CliRunner().invoke(
        app, [*words.split(), "--splits", "2", "--seeds", "1", "--workers", "0", "--store", str(store.path), "--json"]
    )
    assert done.exit_code == 0, done.output
    values = json.loads(done.stdout)
    assert [each["fold"] for each in values["folds"]] == [0, 1]
    assert {choice["split"] for choice in values["row"]["choices"]} == {0, 1}
