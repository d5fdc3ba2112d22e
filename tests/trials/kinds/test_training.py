"""Rules that change the task of a training: a single logit, and scores of batches."""

from __future__ import annotations

import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import load
from graphtrial.nn import Shapes, parameter_count
from graphtrial.studies import ModelEntry, Study
from graphtrial.tasks import GraphBinaryClassification
from graphtrial.tasks.batch_scores import BatchScores
from graphtrial.training.trainer import train
from graphtrial.trials.trial import make_job


def study(dataset: str, **rules: object) -> Study:
    row = ModelEntry("gcn", {"width": 8, "layers": 1})
    return Study("s", dataset, (row,), seeds=1, splits=1, rules={"stopping.max_epochs": 1, **rules})


def test_one_logit_and_scores_of_batches() -> None:
    (trial,) = study("cycles-200", single_logit=True, scoring="batches").trials()
    job = make_job(trial)
    assert isinstance(job.task, BatchScores)
    assert isinstance(job.task.task, GraphBinaryClassification)
    outcome = train(job)
    assert outcome.params == parameter_count("gcn", Shapes(1, "graph", node_dim=1), {"width": 8, "layers": 1})
    assert 0 <= outcome.scores["test"] <= 100
    plain = next(iter(study("cycles-200").trials()))
    assert plain.id != trial.id
    assert "scoring" not in plain.to_dict()["rules"]
    assert "single_logit" not in plain.to_dict()["rules"]


def test_ten_classes_have_no_single_logit() -> None:
    load("csl")
    with pytest.raises(GraphTrialError, match="no two classes that a single logit could predict"):
        study("csl", single_logit=True).trials()


def test_scores_of_batches_do_not_change_the_training() -> None:
    trials = [next(iter(study("csl", **rules).trials())) for rules in ({}, {"scoring": "batches"})]
    outcomes = [train(make_job(trial)) for trial in trials]
    assert outcomes[0].epochs[0].train_loss == outcomes[1].epochs[0].train_loss
    assert len(make_job(trials[0]).test_ids) % trials[0].rules.batch_size == 0  # type: ignore[attr-defined]
    assert outcomes[0].scores == pytest.approx(outcomes[1].scores)  # batches of the same size
