"""The rules of cross-validated trainings, and the schedule as it should be and as it was published."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
import torch

from graphtrial.core.errors import GraphTrialError
from graphtrial.svm.rules import KernelFoldRules
from graphtrial.training import PROTOCOLS
from graphtrial.training.batches import Job
from graphtrial.training.rules import FoldRules, TrainingRules
from graphtrial.training.trainer import train
from graphtrial.trials.kinds import rules_from

GIVEN = {"batch_size": 8, "lr": 1e-2, "patience": 1, "min_lr": 1e-4}


@pytest.mark.parametrize("rules", [TrainingRules(**GIVEN), FoldRules(**GIVEN, chosen=("width",)), KernelFoldRules()])
def test_rules_of_each_kind_are_read_back_as_what_they_were(rules: TrainingRules | KernelFoldRules) -> None:
    assert rules_from(dataclasses.asdict(rules)) == rules


def test_senseless_rules_of_folds_are_refused() -> None:
    for wrong in ({"folds": 1}, {"validation": 0.0}, {"schedule": "wrong"}):
        with pytest.raises(GraphTrialError):
            FoldRules.from_dict({**GIVEN, **wrong})
    with pytest.raises(GraphTrialError, match="no rules of the kind 'forest'"):
        rules_from({"kind": "forest"})


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["right", "as-published"])
def test_the_rate_follows_the_validation_accuracy_up_or_as_published_down(
    make_job: Callable[..., Job], schedule: str
) -> None:
    job = make_job()
    rules = {"batch_size": 8, "lr": 1e-2, "patience": 1, "min_lr": 1e-9, "max_epochs": 14}
    chosen = FoldRules.from_dict({**rules, "tested": "best", "judged_by": "score", "schedule": schedule})
    outcome = train(dataclasses.replace(job, rules=chosen))
    scores = [epoch.val_score for epoch in outcome.epochs]
    assert len(set(scores)) > 1
    assert _rates(scores, mode="max" if schedule == "right" else "min") == [epoch.lr for epoch in outcome.epochs]
    assert _rates(scores, mode="max") != _rates(scores, mode="min")
    assert outcome.scores["val"] == max(scores)  # the best epoch is the most accurate one under both


def _rates(scores: list[float], mode: str) -> list[float]:
    """Return the rate of each epoch by a scheduler of torch beside the loop."""
    optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1e-2)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, mode, factor=0.5, patience=1, threshold=1e-4)  # type: ignore[arg-type]
    found = []
    for score in scores:
        found.append(optimiser.param_groups[0]["lr"])
        plateau.step(score)
    return found


def test_the_published_schedule_ends_training_after_some_ninety_epochs_even_if_all_goes_well() -> None:
    rules = PROTOCOLS.get("tudataset/gnn-as-published").rules
    assert isinstance(rules, FoldRules)
    optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=rules.lr)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimiser, rules.plateau_mode(rising=True), factor=rules.factor, patience=rules.patience
    )
    epochs = 0
    while optimiser.param_groups[0]["lr"] >= rules.min_lr:
        epochs += 1
        plateau.step(50.0 + epochs)
    assert 80 <= epochs <= 100
