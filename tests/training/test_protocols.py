from __future__ import annotations

import pytest

from graphtrial.published import Configuration, configurations, released_configuration
from graphtrial.training import PROTOCOLS

FOLDS = {"csl": 10, "wikics": 20, "enzymes": 10, "dd": 10, "proteins": 10}
"""The wall clock of the released code is shared out by folds, on CSL too by ten."""

RELEASED = [
    pytest.param(
        built, id=f"{built.printed.dataset}-{built.model}-{built.printed.variant}-{built.layers}-{built.params}"
    )
    for built in configurations("bgnn-v5")
    if not (built.printed.dataset == "OGBL-COLLAB" and built.training["max_hours"] == 24)  # the edge study
    and built.model != "gcn-vanilla"  # which has the size of the released GCN
]


@pytest.mark.slow
@pytest.mark.parametrize("released", RELEASED)
def test_bgnn_v5_follows_every_released_configuration(released: Configuration) -> None:
    dataset, result = released.printed.dataset.lower(), released.training
    protocol = PROTOCOLS.get(f"bgnn-v5/{dataset}")
    flat = protocol.rules_for(released.model, released.layers).flat()
    keys = ("optimizer.lr", "schedule.factor", "schedule.patience", "stopping.min_lr", "batch_size")
    assert tuple(flat[key] for key in keys) == (
        result["lr"],
        result["lr_factor"],
        result["patience"],
        result["min_lr"],
        result.get("batch_size", 1),
    )
    hours = result["max_hours"] / FOLDS.get(dataset, 1)
    keys = ("optimizer.weight_decay", "stopping.max_epochs", "stopping.max_hours")
    assert tuple(flat[key] for key in keys) == (result["weight_decay"], result["max_epochs"], hours)


@pytest.mark.parametrize("dataset", ["zinc", "csl"])
def test_seeds_match_the_released_scripts(dataset: str) -> None:
    released = released_configuration(dataset, "gcn")
    assert released is not None
    assert PROTOCOLS.get(f"bgnn-v5/{dataset}").seeds == tuple(released.training["seeds"])


def test_user_changes_override_model_overrides() -> None:
    pattern = PROTOCOLS.get("bgnn-v5/pattern")
    assert pattern.rules_for("gatedgcn", 4).batch_size == 128
    assert pattern.rules_for("gatedgcn", 16).batch_size == 32
    assert pattern.rules_for("gatedgcn", 16, {"batch_size": 8}).batch_size == 8
    assert pattern.rules_for("3wl-gnn", 3).flat()["accumulation"] == "as-published"


@pytest.mark.parametrize("name", PROTOCOLS.names())
def test_every_protocol_is_complete(name: str) -> None:
    protocol = PROTOCOLS.get(name)
    assert protocol.name == name
    assert len(set(protocol.seeds)) == len(protocol.seeds) > 0
    assert protocol.splits >= 1
    assert protocol.paper
