"""Studies on several datasets, grids of settings, and networks on the folds of kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphtrial.core.errors import GraphTrialError, UnknownNameError
from graphtrial.core.spec import canonical_json
from graphtrial.datasets import load
from graphtrial.execution import run_trials
from graphtrial.execution.worker import run_and_record
from graphtrial.results import result_rows
from graphtrial.studies import ModelEntry, Study, load_study
from graphtrial.svm.folds import draw_fold
from graphtrial.svm.rules import KernelFoldRules
from graphtrial.training.outcome import Epoch
from graphtrial.trials import Store, TrialSpec, run_trial
from graphtrial.trials.trial import make_job

BOTH = """
title = "Kernels and networks"
datasets = ["csl", "cycles"]
protocol = "tudataset/kernel-svm"
seeds = 1
splits = 2

[[models]]
name = "wl"
datasets = ["csl"]

[[models]]
name = "gin-eps"
protocol = "tudataset/gnn"
grid = { layers = [1, 2], width = [4, 8] }
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    (tmp_path / "a.toml").write_text(BOTH)
    return load_study(str(tmp_path / "a.toml"))


@pytest.fixture
def networks() -> Study:
    row = ModelEntry("gin-eps", grid={"layers": (1, 2), "width": (4,)})
    return Study("t", "csl", (row,), protocol="tudataset/gnn", seeds=1, splits=2, rules={"stopping.max_epochs": 2})


def test_study_expands_datasets_entries_and_grids(study: Study) -> None:
    trials = study.only(["csl"]).trials()
    assert [t.model.name for t in trials] == ["wl"] * 2 + ["gin-eps"] * 8
    points = [(t.settings["layers"], t.settings["width"]) for t in trials[2:]]
    assert points == [(1, 4)] * 2 + [(1, 8)] * 2 + [(2, 4)] * 2 + [(2, 8)] * 2
    assert {t.protocol for t in trials} == {"tudataset/kernel-svm@1", "tudataset/gnn@1"}
    assert len({t.id for t in trials}) == 10
    assert study.datasets == ("csl", "cycles")
    assert study.needs_sklearn
    assert not study.only(models=["gin-eps"]).needs_sklearn


def test_study_filters_accept_published_names(study: Study) -> None:
    table = load_study("tudataset/table-1").only(["ENZYMES", "IMDB-Binary"], ["WL", "graphlet"], 3)
    assert table.datasets == ("enzymes+labels", "imdb-binary")
    assert [row.model for row in table.rows] == ["wl", "graphlet"]
    assert table.seeds == 3
    assert study.only().datasets == study.datasets
    with pytest.raises(UnknownNameError, match=r"no dataset called 'IMDB-BINRY'\. Did you mean 'imdb-binary'"):
        load_study("tudataset/table-1").only(["IMDB-BINRY"])
    with pytest.raises(UnknownNameError, match=r"no model called 'gatedgcn'\. It has wl"):
        study.only(models=["gatedgcn"])


def test_networks_and_kernels_use_the_same_folds(networks: Study) -> None:
    graphs = len(load("csl").graphs)
    for spec in networks.trials():
        job, fold = make_job(spec), draw_fold(graphs, KernelFoldRules(), fold=spec.split, seed=spec.seed)
        assert spec.kind.draws_folds
        for part, ids in fold._asdict().items():
            np.testing.assert_array_equal(getattr(job, f"{part}_ids"), ids)
        assert TrialSpec.from_dict(spec.to_dict()) == spec


def test_number_of_splits_equals_number_of_folds(networks: Study) -> None:
    whole = Study("t", "csl", networks.rows, protocol="tudataset/gnn", seeds=1)
    assert {trial.split for trial in whole.trials()} == set(range(10))  # the dataset has five splits of its own
    with pytest.raises(GraphTrialError, match="10 splits, not 11"):
        Study("t", "csl", networks.rows, protocol="tudataset/gnn", splits=11).trials()


def test_grid_is_run_and_one_trial_selected_per_fold(networks: Study, tmp_path: Path) -> None:
    store = Store(tmp_path / "store.sqlite")
    run_trials(networks.trials(), store, workers=0)
    assert len(store.trials()) == 4
    (row,) = result_rows(store.trials())
    best = {s: max(r.scores["val"] for r in store.trials() if r.spec.split == s) for s in (0, 1)}
    assert {r.spec.split: r.scores["val"] for r in row.trials} == best
    assert {choice["split"] for choice in row.to_dict()["choices"]} == {0, 1}


def test_fold_resume_is_bit_exact(networks: Study, tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    def stop(epoch: Epoch) -> None:
        raise StopError

    spec = networks.trials()[2]
    whole = run_trial(spec, tmp_path / "whole")
    with pytest.raises(StopError):
        run_trial(spec, tmp_path / "stopped", stop)
    again = run_trial(spec, tmp_path / "stopped")
    assert canonical_json(again.scores) == canonical_json(whole.scores)
    assert {k: v.numpy().tobytes() for k, v in again.weights.items()} == {
        k: v.numpy().tobytes() for k, v in whole.weights.items()
    }
    store = Store(tmp_path / "store.sqlite")
    run_and_record(spec, store)
    assert store.trials()[0].scores == whole.scores
