"""Protocols of modern models against their released configurations, transcribed in `released_recipes.csv`."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from graphtrial.training import PROTOCOLS

with Path(__file__).with_name("released_recipes.csv").open(encoding="utf-8") as _file:
    RELEASED = list(csv.DictReader(_file))
MODERN = ("gps", "grit", "exphormer", "gnnplus", "san", "gt", "lspe", "pna")


@pytest.mark.parametrize("released", RELEASED, ids=lambda row: f"{row['protocol']}-{row['model']}")
def test_protocol_equals_released_configuration(released: dict[str, str]) -> None:
    rules = PROTOCOLS.get(released["protocol"]).rules_for(released["model"]).flat()
    keys = {
        "batch_size": "batch_size",
        "optimizer.lr": "lr",
        "optimizer.weight_decay": "weight_decay",
        "schedule.patience": "patience",
        "stopping.min_lr": "min_lr",
        "stopping.max_hours": "max_hours",
        "schedule.warmup_epochs": "warmup_epochs",
        "stopping.max_epochs": "max_epochs",
        "clip_grad_norm": "clip",
    }
    expected = {key: float(released[column]) for key, column in keys.items() if released[column]}
    assert {key: rules.get(key) for key in keys if rules.get(key) is not None} == expected
    assert rules["optimizer"] == released["optimizer"]
    assert rules["schedule"] == ("cosine" if released["warmup_epochs"] else "plateau")


def test_every_protocol_of_these_papers_has_a_released_configuration() -> None:
    families = {name for name in PROTOCOLS.names() if name.partition("/")[0] in MODERN}
    assert families == {row["protocol"] for row in RELEASED}
