"""Metadata of a dataset, and its published statistics; the data themselves are not needed."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphtrial.datasets.base import lookup_dataset, published_name
from graphtrial.published.data_files import published_facts
from graphtrial.report.grid import Cell, Grid, words
from graphtrial.results.titles import dataset_title
from graphtrial.tasks import Task


@dataclass(frozen=True)
class About:
    """Title, named facts and notes of a dataset."""

    title: str
    facts: dict[str, str]
    notes: tuple[str, ...] = ()


def describe(name: str) -> About:
    """Return the metadata of a dataset; of one that is not registered, the name alone."""
    kind = lookup_dataset(name)
    if kind is None:
        return About(name, {})
    doc = inspect.getdoc(kind) or name
    facts = {
        "Task": kind.task.name if kind.task else "",
        "Metric": f"{kind.task.metric.title}, {_direction(kind.task)} is better" if kind.task else "",
        "Domain": kind.domain,
        "Paper": kind.paper,
        "Licence": kind.licence,
        "Split": _printed(name, "split_note"),
    }
    title = doc.splitlines()[0].replace("`", "")
    return About(title, {key: value for key, value in facts.items() if value}, tuple(kind.notes))


def statistics(name: str, metadata: Mapping[str, Any], file: str) -> Grid | None:
    """Return the statistics of a dataset: ours and the published ones where it is prepared here, else the latter."""
    if metadata.get("statistics"):
        lines = [
            [
                Cell(str(fact["what"])),
                Cell(_flat(fact["ours"])),
                Cell(_flat(fact["published"])),
                Cell("agrees" if fact["agrees"] else "differs", pill="agrees" if fact["agrees"] else "worse"),
                Cell(" ".join(filter(None, [str(fact["rule"]), fact.get("reason", "")])), mark="w"),
            ]
            for fact in metadata["statistics"]
        ]
        return Grid(
            file, f"Statistics of {dataset_title(name)}", words("", "Ours", "Published", "Verdict", "Rule"), lines
        )
    keys = {
        "graphs": "graphs",
        "avg_nodes": "mean nodes",
        "avg_edges": "mean edges",
        "classes_or_targets": "classes or targets",
        "node_feature_dim": "node features",
        "edge_feature_dim": "edge features",
        "train": "train",
        "val": "val",
        "test": "test",
    }
    lines = [[Cell(title), Cell(value)] for key, title in keys.items() if (value := _printed(name, key))]
    return (
        Grid(file, f"Published statistics of {dataset_title(name)}", words("", "Published"), lines) if lines else None
    )


def _direction(task: Task) -> str:
    return "higher" if task.metric.higher_is_better else "lower"


def _printed(name: str, key: str) -> str:
    return next((facts[key] for facts in published_facts(published_name(name)) if key in facts), "")


def _flat(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " / ".join(map(_flat, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
