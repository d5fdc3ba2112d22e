"""Protocols of modern models against their released configurations, transcribed in `released_recipes.csv`.

There is a row for every released configuration on datasets that are registered here: those whose parameter counts are
tested, and two that cannot be counted. `floor` is a learning rate that a plateau does not go below, `min_lr` one below
which training stops, `steps` those of warm-up and all.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from graphtrial.published import configurations
from graphtrial.studies.edition import SUFFIX
from graphtrial.training import PROTOCOLS

with Path(__file__).with_name("released_recipes.csv").open(encoding="utf-8") as _file:
    RELEASED = list(csv.DictReader(_file))
MODERN = {row["protocol"].partition("/")[0] for row in RELEASED}
KEYS = {
    "batch_size": "batch_size",
    "optimizer.lr": "lr",
    "optimizer.weight_decay": "weight_decay",
    "schedule.patience": "patience",
    "schedule.min_lr": "floor",
    "stopping.min_lr": "min_lr",
    "stopping.max_hours": "max_hours",
    "schedule.warmup_epochs": "warmup_epochs",
    "stopping.max_epochs": "max_epochs",
    "clip_grad_norm": "clip",
}
UNCOUNTED = {
    ("rampasek/GraphGPS", "configs/GPS/zinc-GPS-ESLapPE.yaml"),
    ("microsoft/Graphormer", "examples/property_prediction/zinc.sh"),
}


@pytest.mark.parametrize("released", RELEASED, ids=lambda row: f"{row['repository']}/{row['config']}")
def test_protocol_equals_released_configuration(released: dict[str, str]) -> None:
    rules = PROTOCOLS.get(released["protocol"]).rules_for(released["model"]).flat()
    expected = {key: float(released[column]) for key, column in KEYS.items() if released[column]}
    actual = {key: rules[key] for key in KEYS if rules.get(key) is not None}
    assert {key: value for key, value in actual.items() if (key, value) != ("schedule.min_lr", 0.0)} == expected
    assert rules["optimizer"] == released["optimizer"]
    assert rules["schedule"] == released["schedule"]
    if released["steps"]:
        assert f"{rules['schedule.warmup_steps']} of {rules['schedule.total_steps']}" == released["steps"]


def test_every_protocol_of_these_papers_has_a_released_configuration() -> None:
    families = {name for name in PROTOCOLS.names() if name.partition("/")[0] in MODERN}
    assert {name.removesuffix(SUFFIX) for name in families} == {row["protocol"] for row in RELEASED}


def test_every_counted_configuration_of_a_registered_dataset_has_a_recipe() -> None:
    counted = Counter((config.protocol, config.model) for config in configurations() if config.protocol)
    recipes = [row for row in RELEASED if (row["repository"], row["config"]) not in UNCOUNTED]
    assert len(RELEASED) == len(recipes) + len(UNCOUNTED) == 228
    assert counted == Counter((row["protocol"], row["model"]) for row in recipes)


@pytest.mark.parametrize("name", sorted({row["protocol"] for row in RELEASED if "/pattern" in row["protocol"]}))
def test_graphgps_predicts_pattern_by_one_logit(name: str) -> None:
    assert PROTOCOLS.get(name).rules.flat()["single_logit"] == (name.partition("/")[0] not in ("san", "gt", "dgn"))


def test_editions_differ_in_the_scoring_alone() -> None:
    for name in (name for name in PROTOCOLS.names() if name.partition("/")[0] in MODERN and name.endswith(SUFFIX)):
        sound, published = PROTOCOLS.get(name.removesuffix(SUFFIX)), PROTOCOLS.get(name)
        expected = "batches-softmax-rows" if name.startswith("dgn/pattern") else "batches"
        assert published.rules.difference(sound.rules) == {"scoring": expected}
        assert (published.seeds, published.exceptions) == (sound.seeds, sound.exceptions)
