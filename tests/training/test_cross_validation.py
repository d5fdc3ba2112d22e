"""Training rules with folds that the seed draws, and the schedule as it should be and as it was published."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau

from graphtrial.core.errors import GraphTrialError
from graphtrial.training import PROTOCOLS
from graphtrial.training.batches import Job
from graphtrial.training.rules import TrainingRules
from graphtrial.training.trainer import train


@pytest.mark.parametrize("wrong", [{"folds": 1}, {"validation": 0.0}, {"select": 3}, {"fold": 3}])
def test_invalid_folds_raise(wrong: dict[str, object]) -> None:
    rules = PROTOCOLS.get("tudataset/gnn").rules
    with pytest.raises(GraphTrialError):
        rules.changed({"cross_validation": wrong})


@pytest.mark.parametrize("mode", ["monitor", "as-published"])
def test_plateau_follows_validation_accuracy(make_job: Callable[..., Job], mode: str) -> None:
    rules = make_job().rules.changed(
        {
            "schedule": f"plateau:factor=0.5,patience=1,mode={mode}",
            "stopping": {"min_lr": 1e-9, "max_epochs": 14},
            "evaluate": "best",
            "monitor": "val_score",
        }
    )
    outcome = train(dataclasses.replace(make_job(), rules=rules))
    scores = [epoch.val_score for epoch in outcome.epochs]
    assert len(set(scores)) > 1
    assert _rates(scores, mode="max" if mode == "monitor" else "min") == [epoch.lr for epoch in outcome.epochs]
    assert _rates(scores, mode="max") != _rates(scores, mode="min")
    assert outcome.scores["val"] == max(scores)  # the best epoch is the most accurate one under both


def _rates(scores: list[float], mode: str) -> list[float]:
    """Return the rate of each epoch by a scheduler of torch beside the loop."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1e-2)
    plateau = ReduceLROnPlateau(optimizer, mode, factor=0.5, patience=1, threshold=1e-4)  # type: ignore[arg-type]
    rates = []
    for score in scores:
        rates.append(optimizer.param_groups[0]["lr"])
        plateau.step(score)
    return rates


def test_published_schedule_stops_after_ninety_epochs() -> None:
    rules = PROTOCOLS.get("tudataset/gnn-as-published").rules
    assert isinstance(rules, TrainingRules)
    flat = rules.flat()
    assert flat["schedule.mode"] == "as-published"
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=flat["optimizer.lr"])
    plateau = ReduceLROnPlateau(optimizer, "min", factor=flat["schedule.factor"], patience=flat["schedule.patience"])
    epochs = 0
    while optimizer.param_groups[0]["lr"] >= flat["stopping.min_lr"]:
        epochs += 1
        plateau.step(50.0 + epochs)
    assert 80 <= epochs <= 100
