"""Composed training rules: notations, storage, errors."""

from __future__ import annotations

from typing import Any

import pytest

from graphtrial.core.errors import GraphTrialError, UnknownNameError
from graphtrial.svm.rules import FeatureFitRules, KernelFoldRules
from graphtrial.training import PROTOCOLS
from graphtrial.training.optim.base import Unregistered
from graphtrial.training.optim.optimizers.adam import Adam
from graphtrial.training.optim.optimizers.sgd import SGD
from graphtrial.training.optim.schedules.cosine import Cosine
from graphtrial.training.optim.schedules.plateau import Plateau
from graphtrial.training.optim.stopping.early_stopping import EarlyStopping
from graphtrial.training.optim.stopping.max_epochs import MaxEpochs
from graphtrial.training.optim.stopping.min_lr import MinLR
from graphtrial.training.rules import TrainingRules
from graphtrial.trials.kinds import rules_from

RULES = TrainingRules(
    batch_size=8,
    optimizer=Adam(lr=1e-3),
    schedule=Plateau(factor=0.5, patience=5),
    stopping=(MinLR(1e-5), MaxEpochs(100)),
)


def test_equivalent_notations_give_equal_rules() -> None:
    dotted = {"batch_size": 8, "optimizer": "adam:0.001", "schedule": "plateau:factor=0.5,patience=5"}
    assert TrainingRules.from_dict({**dotted, "stopping.min_lr": 1e-5, "stopping.max_epochs": 100}) == RULES
    nested = {
        "batch_size": 8,
        "optimizer": {"name": "adam", "lr": 1e-3},
        "schedule": {"name": "plateau", "factor": 0.5, "patience": 5},
        "stopping": {"min_lr": {"lr": 1e-5}, "max_epochs": 100},
    }
    assert TrainingRules.from_dict(nested) == RULES
    assert RULES.changed({}) == RULES


def test_single_arguments_and_whole_components_are_changed() -> None:
    assert RULES.changed({"optimizer.lr": 0.1}).optimizer == Adam(lr=0.1)
    assert RULES.changed({"optimizer": {"weight_decay": 0.1}}).optimizer == Adam(lr=1e-3, weight_decay=0.1)
    assert RULES.changed({"schedule": "cosine:warmup_epochs=5"}).schedule == Cosine(warmup_epochs=5)
    later = RULES.changed({"optimizer.momentum": 0.9, "optimizer": "sgd:lr=0.1"})
    assert later.optimizer == SGD(lr=0.1, momentum=0.9)
    stopped = RULES.changed({"stopping.early_stopping": 7, "stopping.min_lr": "none", "stopping.max_epochs": 3})
    assert stopped.stopping == (EarlyStopping(7), MaxEpochs(3))
    assert RULES.changed({"clip_grad_norm": 1}).clip_grad_norm == 1.0
    assert RULES.changed({"clip_grad_norm": 1}).changed({"clip_grad_norm": "none"}) == RULES


@pytest.mark.parametrize("rules", [RULES, KernelFoldRules(machine="linear"), FeatureFitRules(penalty=2.0)])
def test_stored_rules_round_trip_without_defaults(rules: Any) -> None:
    assert rules_from(rules.to_dict()) == rules
    assert RULES.to_dict() == {
        "batch_size": 8,
        "optimizer": {"name": "adam", "lr": 1e-3},
        "schedule": {"name": "plateau", "factor": 0.5, "patience": 5},
        "stopping": {"min_lr": {"lr": 1e-5}, "max_epochs": {"epochs": 100}},
    }
    assert KernelFoldRules(machine="linear").to_dict() == {"kind": "kernel-svm", "machine": "linear"}
    assert FeatureFitRules(penalty=8.0).to_dict() == {"kind": "feature-svm"}


@pytest.mark.parametrize("name", PROTOCOLS.names())
def test_every_protocol_round_trips(name: str) -> None:
    protocol = PROTOCOLS.get(name)
    for model in ("gcn", *protocol.exceptions):
        label, _, layers = model.partition("/")
        rules = protocol.rules_for(label, int(layers) if layers else None)
        assert rules_from(rules.to_dict()) == rules
        assert protocol.rules.changed(rules.difference(protocol.rules)) == rules


def test_difference_transforms_one_into_the_other() -> None:
    other = RULES.changed(
        {
            "optimizer": "sgd:lr=0.5,momentum=0.9",
            "schedule.patience": 3,
            "stopping": {"min_lr": "none", "early_stopping": {"patience": 4, "min_delta": 0.1}},
            "cross_validation.folds": 5,
            "clip_grad_norm": 0.5,
        }
    )
    assert other.difference(RULES)["optimizer"] == "sgd:lr=0.5,momentum=0.9"
    assert RULES.changed(other.difference(RULES)) == other
    assert other.changed(RULES.difference(other)) == RULES
    assert RULES.difference(RULES) == {}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"patiance": 5}, "Did you mean 'schedule.patience'"),
        ({"lr": 5}, "Did you mean 'optimizer.lr'"),
        ({"max_epochs": 5}, "Did you mean 'stopping.max_epochs'"),
        ({"optimizer": "adan:lr=0.1"}, "no optimizer called 'adan'. Did you mean 'adam'"),
        ({"optimizer.momentun": 0.1}, "optimizer 'adam' has no setting 'momentun'"),
        ({"optimizer": "sgd"}, "'sgd' needs a value for lr"),
        ({"optimizer": 3}, "must be a name with arguments"),
        ({"optimizer.lr": 0}, "must be a"),
        ({"optimizer.lr": True}, "must be a"),
        ({"schedule": "cosine:warmup_epochs=100"}, "must be below stopping.max_epochs"),
        ({"schedule": "cosin"}, "Did you mean 'cosine'"),
        ({"stopping.max_epoch": 3}, "Did you mean 'max_epochs'"),
        ({"stopping.max_epochs": 0}, "an integer from 1"),
        ({"stopping": {"max_epochs": "none"}}, "may never end"),
        ({"stopping": 3}, "stopping must be a mapping"),
        ({"clip_grad_norm": -1}, "clip_grad_norm of the training rules must be"),
        ({"accumulation": 0}, "accumulation of the training rules must be"),
        ({"monitor": "loss"}, "'val_loss' or 'val_score'"),
        ({"evaluate": "first"}, "'last' or 'best'"),
        ({"cross_validation.fold": 3}, "no setting 'fold'. Did you mean 'folds'"),
        ({"batch_size": 0}, "batch_size of the training rules must be"),
    ],
)
def test_invalid_rules_raise(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(GraphTrialError) as caught:
        RULES.changed(wrong)
    assert words in str(caught.value)


def test_unknown_component_is_readable_but_not_runnable() -> None:
    stored = {**RULES.to_dict(), "optimizer": {"name": "lion", "lr": 1e-4, "version": 3}}
    rules = rules_from(stored)
    assert isinstance(rules, TrainingRules)
    assert isinstance(rules.optimizer, Unregistered)
    assert rules.to_dict() == stored
    assert rules.flat()["optimizer.lr"] == 1e-4
    with pytest.raises(UnknownNameError, match="version 3 of 'lion'"):
        rules.optimizer.build([])
    later = {**RULES.to_dict(), "schedule": {"name": "plateau", "patience": 5, "version": 9}}
    assert rules_from(later).to_dict() == later


def test_rules_of_another_version_or_kind_raise() -> None:
    with pytest.raises(GraphTrialError, match="the training rules are of version 7"):
        rules_from({**RULES.to_dict(), "version": 7})
    with pytest.raises(GraphTrialError, match="no rules of the kind 'forest'"):
        rules_from({"kind": "forest"})
