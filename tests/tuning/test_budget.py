"""Tuning budgets as text, and the shortest training that rules allow."""

from __future__ import annotations

from typing import Any

import pytest

from graphtrial.training import PROTOCOLS
from graphtrial.trials.kinds import kind_of
from graphtrial.tuning.budget import Budget


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("60trials", Budget(60, "trials")),
        ("1trial", Budget(1, "trials")),
        (" 3000 epochs", Budget(3000, "epochs")),
        ("1.5h", Budget(1.5, "hours")),
    ],
)
def test_a_budget_is_read_from_text(text: str, budget: Budget) -> None:
    assert Budget.parse(text) == budget
    assert Budget.parse(str(budget)) == budget


def test_a_budget_is_spent() -> None:
    assert not Budget.parse("10epochs").is_spent(9, 1e9)
    assert Budget.parse("10epochs").is_spent(10, 0.0)
    assert Budget.parse("1h").is_spent(0, 3600.0)
    assert not Budget.parse("1h").is_spent(10**9, 3599.0)


@pytest.mark.parametrize(
    ("protocol", "changes", "epochs"),
    [
        ("bgnn-v5/zinc", {}, 6 * 11),  # 1e-3 is halved six times before it is below 1e-5 at the seventh
        ("bgnn-v5/zinc", {"stopping.max_epochs": 3}, 3),
        ("bgnn-v5/zinc", {"schedule": "constant"}, 1000),
        ("wikics/nodes", {}, 101),  # early stopping
        ("gps/zinc", {}, 2000),
    ],
)
def test_the_shortest_training_that_rules_allow(protocol: str, changes: dict[str, Any], epochs: int) -> None:
    rules = PROTOCOLS.get(protocol).rules.changed(changes)
    assert kind_of(rules).least_epochs == epochs
