"""The released configurations of modern models in our names.

`raw/modern_configs.csv` has them as released; `modern_settings.csv` the registered model, settings, protocol, encoding
and input shapes of each one with an exact parameter count, those behind a published number before ablations. What an
edition decides, such as the convolution of GCN+, is left to its default.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from graphtrial.datasets import DATASETS
from graphtrial.datasets.base import published_name
from tools.normalize_published.identity import own_settings
from tools.normalize_published.modern_papers import REPOSITORIES
from tools.normalize_published.raw import Line, plain, read_csv, stated, whole

BUDGETS = ((250_000, "100k"), (750_000, "500k"), (2_000_000, "1M"))
NO_COUNT = {
    "configs/GPS/zinc-GPS-ESLapPE.yaml": "the released code cannot build it: GINEConvESLapPE reads mlp_r_ij before it "
    "is created",
    "examples/property_prediction/zinc.sh": "the model of the main branch needs fairseq, and was not built; that of "
    "version 1.0 has 489,481 parameters",
}
"""Why a configuration has no exact count."""
NOT_OURS = "the count of the released model on {dataset} is not known; the dataset is not among ours"
NO_EDGES = " no edge features"
"""Ending of a dataset whose edge features a model does not read."""
TRAINING = ("batch_size", "optimizer", "lr", "weight_decay", "schedule", "warmup_epochs", "max_epochs", "clip")
NAMES = {"GPS": "gps", "Graphormer": "graphormer", "GraphSAGE": "tuned-gnn", "GCN": "tuned-gnn", "GAT": "tuned-gnn"}
"""Registered model of a configuration without settings, by the beginning of its name."""


@cache
def modern_configurations() -> tuple[dict[str, Any], ...]:
    """Return all configurations, those with settings in the order of `modern_settings.csv` first."""
    raw = {(line["source_repo"], line["source_path"]): line for line in read_csv("raw/modern_configs.csv")}
    ours = {(line["repository"], line["path"]): line for line in read_csv("modern_settings.csv")}
    return tuple(_configuration(raw[key], ours.get(key)) for key in (*ours, *(key for key in raw if key not in ours)))


def budget_of(params: int) -> str:
    """Return the class of sizes of a parameter count."""
    return next((name for most, name in BUDGETS if params < most), "5M")


def dataset_names(dataset: str) -> list[str]:
    """Return the datasets of ours that papers mean by a name; none for a dataset that we do not have."""
    name = plain(dataset.removesuffix(NO_EDGES))
    return [ours for ours in DATASETS.names() if plain(ours) == name and plain(published_name(ours)) == name]


def _configuration(line: Line, ours: Line | None) -> dict[str, Any]:
    settings = json.loads(ours["settings"]) if ours else {}
    params = whole(line["params_exact"])
    model = ours["model"] if ours else _registered(line["model"])
    training = {key: line[key] for key in TRAINING if line[key]}
    return {
        "paper": REPOSITORIES[line["source_repo"]],
        **stated({"protocol": (ours["protocol"] or None) if ours else None}),
        "datasets": dataset_names(line["dataset"]),
        "model": model,
        "settings": own_settings(model, settings),
        "layers": int(line["layers"]),
        **stated({"encoding": ours["encoding"] if ours and ours["encoding"] != "none" else None}),
        "budget": budget_of(params) if params else "",
        **stated({"params": params, "main": _is_main(line) or None}),
        "training": training,
        "printed": {"dataset": line["dataset"], "model": line["model"], "variant": {"pe": line["pe"]}},
        **stated({"shapes": ours["shapes"] if ours else None}),
        "source": f"{line['source_repo']} {line['source_path']}",
        **stated({"reason": None if params else _reason(line)}),
    }


def _registered(label: str) -> str:
    return next(name for beginning, name in NAMES.items() if label.startswith(beginning))


def _reason(line: Line) -> str:
    return NO_COUNT.get(line["source_path"]) or NOT_OURS.format(dataset=line["dataset"])


@cache
def _counts() -> frozenset[tuple[str, str]]:
    """Return the datasets and counts of published results."""
    return frozenset((line["dataset"], line["params_config"]) for line in read_csv("raw/modern_results.csv"))


def _is_main(line: Line) -> bool:
    """Whether a published result has the count of a configuration that is none of Exphormer's ablations."""
    if "/Ablation/" in line["source_path"]:
        return False
    return bool(line["params_exact"]) and (line["dataset"], line["params_exact"]) in _counts()
