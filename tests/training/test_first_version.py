"""The protocols of the first version of the benchmark against the settings that it prints."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from graphtrial.training import PROTOCOLS
from graphtrial.training.rules import TrainingRules
from tools.normalize_published.benchmarking_gnns import NAMES
from tools.normalize_published.raw import read_csv

DATASETS = {"PROTEINS": "proteins_full", "PATTERN": "pattern-v1"}
PRINTED = [
    line
    for line in read_csv("raw/hyperparameters.csv")
    if line["paper"] == "bgnn-v1" and line["source"].startswith(("table 16", "table 7")) and line["init_lr"]
]


@pytest.mark.parametrize("line", PRINTED, ids=lambda line: f"{line['dataset']}-{line['label_in_paper']}-{line['L']}")
def test_learning_rates_and_patience_match_the_paper(line: Mapping[str, str]) -> None:
    depth = "-depth" if "depth" in line["variant"] else ""
    name = DATASETS.get(line["dataset"], line["dataset"].lower())
    rules = PROTOCOLS.get(f"bgnn-v1/{name}{depth}").rules_for(NAMES[line["model"]], int(line["L"]))
    result = (float(line["init_lr"]), int(line["patience"]), float(line["min_lr"]), float(line["lr_reduce_factor"]))
    keys = ("optimizer.lr", "schedule.patience", "stopping.min_lr", "schedule.factor")
    assert tuple(rules.flat()[key] for key in keys) == result


@pytest.mark.parametrize(
    ("name", "seeds", "splits", "hours"), [("zinc", 4, 1, 48), ("tsp", 2, 1, 48), ("dd", 2, 10, 4.8)]
)
def test_seeds_and_time_limit_match_the_paper(name: str, seeds: int, splits: int, hours: float) -> None:
    protocol = PROTOCOLS.get(f"bgnn-v1/{name}")
    assert isinstance(protocol.rules, TrainingRules)
    assert (len(protocol.seeds), protocol.splits, protocol.rules.max_hours) == (seeds, splits, hours)
    assert protocol.rules.evaluate == "last"
