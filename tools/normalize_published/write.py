"""The normalised files, as text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from graphtrial.datasets import DATASETS
from graphtrial.datasets.base import published_name
from tools.normalize_published.benchmarking_gnns import known_settings, registered
from tools.normalize_published.configurations import configurations
from tools.normalize_published.identity import own_settings
from tools.normalize_published.modern_configurations import modern_configurations
from tools.normalize_published.modern_papers import PAPERS as MODERN_PAPERS
from tools.normalize_published.modern_results import modern_results
from tools.normalize_published.raw import PrintedRow, number, plain, printed_rows, read_csv, scores, stated
from tools.normalize_published.tables import PAPERS, group_titles, layout_of, positions

AVERAGE = "Average"
"""Printed name of the mean over all targets of a multi-target dataset."""
REPEATED = ("training", "details", "variant")
"""Fields in which repetitions of one experiment differ: seeds, and on CYCLES the number of graphs."""


def normalized_files() -> dict[str, str]:
    """Return the content of each file of the run-time package, by its name."""
    tables = [(key, tuple(rows)) for key, rows in groupby(_in_order(), key=lambda row: (row.paper, row.table))]
    return {
        "results.jsonl": _lines(
            [line for (paper, table), rows in tables for line in _results(paper, table, rows)] + list(modern_results())
        ),
        "configurations.jsonl": _lines([*_configurations(), *modern_configurations()]),
        "datasets.jsonl": _lines(_datasets()),
        "papers.jsonl": _lines(_papers()),
        "tables.jsonl": _lines(_table(paper, table, rows) for (paper, table), rows in tables),
    }


def _in_order() -> list[PrintedRow]:
    papers = list(PAPERS)
    return sorted(printed_rows(), key=lambda row: (papers.index(row.paper), row.table))


def _lines(values: Iterable[Any]) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def _results(paper: str, table: int, rows: tuple[PrintedRow, ...]) -> Iterable[dict[str, Any]]:
    for row, position in zip(rows, positions(layout_of(paper, table), rows), strict=True):
        yield _result(row, position)


def _result(row: PrintedRow, position: dict[str, Any]) -> dict[str, Any]:
    test, identity = row.lines["test"], PAPERS[row.paper].identify(row)
    target = row.variant.get("target", AVERAGE)
    return {
        "paper": row.paper,
        "table": row.table,
        "label": row.label,
        "datasets": identity.datasets,
        "models": [{"name": name, "settings": settings} for name, settings in identity.models],
        "encoding": identity.encoding,
        **stated(
            {
                "layers": row.layers,
                "params": row.params,
                "params_exact": identity.params_exact,
                "erratum": identity.erratum,
                "source": identity.source or None,
                "reason": identity.reason,
                "repetition": row.seed_run,
                "target": None if target == AVERAGE else target,
            }
        ),
        "metric": row.metric,
        "higher_is_better": test["higher_is_better"] == "true",
        "status": row.status,
        **scores(row),
        **stated(
            {
                "epochs": number(test["epochs"]),
                "epoch_seconds": number(test["epoch_seconds"]),
                "total_hours": number(test["total_hours"]),
                "inferred": test["inferred"] == "true" or None,
                "doubtful": "DOUBTFUL" in test["note"] or None,
                "note": test["note"] or None,
            }
        ),
        "printed": {"dataset": row.dataset, "model": row.model, "variant": row.variant},
        "position": position,
    }


def _configurations() -> Iterable[dict[str, Any]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for config in configurations():
        shared = {key: value for key, value in config.items() if key not in REPEATED}
        groups.setdefault(json.dumps(shared, sort_keys=True), []).append(config)
    merged = [_merged(model, group) for group in groups.values() for model in registered(group[0])]
    return sorted(
        merged, key=lambda line: "L8" in line["printed"]["variant"]
    )  # deeper variants of the small models go last


def _merged(model: str, repetitions: list[dict[str, Any]]) -> dict[str, Any]:
    first = repetitions[0]
    training = [{key: value for key, value in one["training"].items() if key != "seeds"} for one in repetitions]
    if any(one != training[0] for one in training):
        raise ValueError(f"repetitions of {first} differ in more than their seeds")
    seeds = dict.fromkeys(seed for one in repetitions for seed in one["training"]["seeds"])
    details = {
        key: value
        for key, value in first["details"].items()
        if all(one["details"].get(key) == value for one in repetitions)
    }
    return {
        "paper": "bgnn-v5",
        "datasets": our_names(first["dataset"]),
        "model": model,
        "settings": own_settings(model, known_settings(model, first)),
        "layers": first["layers"],
        **stated({"encoding": first["encoding_dim"] and f"laplacian:{first['encoding_dim']}"}),
        "edge_features": first.get("edge_features", False),
        "budget": first["budget"],
        "params": first["params"],
        "training": {**training[0], "seeds": list(seeds)},
        "details": details,
        "printed": {"dataset": first["dataset"], "model": first["model"], "variant": first["variant"]},
    }


def our_names(dataset: str) -> list[str]:
    """Return the published names of our datasets (`published_as`)."""
    names = sorted({published_name(name) for name in DATASETS.names()})
    return [name for name in names if plain(name) == plain(dataset)]


def _datasets() -> Iterable[dict[str, Any]]:
    for line in read_csv("raw/datasets.csv"):
        facts = {key: value for key, value in line.items() if value}
        yield {"datasets": our_names(line["dataset"]), **facts}


def _papers() -> Iterable[dict[str, Any]]:
    for name, paper in PAPERS.items():
        yield {"name": name, "citation": paper.citation, "compared_settings": paper.compared_settings}
    for name, citation in MODERN_PAPERS.items():
        yield {"name": name, "citation": citation}


def _table(paper: str, table: int, rows: tuple[PrintedRow, ...]) -> dict[str, Any]:
    layout = layout_of(paper, table)
    return {
        "paper": paper,
        "table": table,
        "main": table in PAPERS[paper].main_tables,
        "label": "Dataset" if layout.label == "dataset" else "Model",
        "columns": layout.columns,
        "before": layout.before,
        "groups": group_titles(layout, rows),
    }
