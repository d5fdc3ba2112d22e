"""Rows as people call them: display names of datasets, models and encodings, and what tells equal ones apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphtrial.core.spec import Component, format_value
from graphtrial.datasets import DATASETS
from graphtrial.encodings import ENCODINGS
from graphtrial.results.rows import ResultRow
from graphtrial.trials.trial import TrialSpec


def dataset_title(name: str) -> str:
    """Return the display name of a dataset, such as `CSL`."""
    return DATASETS.title(name)


def model_title(spec: TrialSpec) -> str:
    """Return the display name of the model, kernel or machine of a trial, such as `GatedGCN`."""
    return spec.kind.title(spec.model.name)


def encoding_title(encoding: Component | None) -> str:
    """Return an encoding in words: `Laplacian 20`, `Laplacian 20, fixed sign`; empty where there is none."""
    if encoding is None:
        return ""
    usual = {"sign": "random", "order": "fixed"}
    first, *rest = encoding.arguments.items() or [("", "")]
    others = [f"{format_value(value)} {key}" for key, value in rest if usual.get(key) != value]
    return ", ".join([f"{ENCODINGS.title(encoding.name)} {format_value(first[1])}".strip(), *others])


def label_title(row: ResultRow) -> str:
    """Return the model of a row as the papers write it: `GatedGCN-E`, where -E marks edge features of the dataset."""
    spec = row.first.spec
    return model_title(spec) + row.label.removeprefix(spec.model.name)


def row_title(row: ResultRow, differs: str = "", *, with_depth: bool = True) -> str:
    """Return a row in words: `GatedGCN-E, Laplacian 8, L = 16`, and the settings in which it differs from its like."""
    layers = row.setting("layers")
    depth = f"L = {layers}" if layers and with_depth else ""
    return ", ".join(filter(None, [label_title(row), encoding_title(row.first.spec.encoding), depth, differs]))


def distinguishing_settings(rows: Sequence[ResultRow]) -> list[str]:
    """Return for each row the settings in which it differs from others of the same table, model, encoding and depth.

    Such as `first_activation = false`; empty for a row that is alone of its kind. Settings of the model are told, else
    those of the training, else the data.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, row in enumerate(rows):
        spec = row.first.spec
        groups.setdefault((spec.dataset, spec.protocol, row.changes, row.name), []).append(place)
    found = [""] * len(rows)
    for places in groups.values():
        if len(places) > 1:
            for place, text in zip(places, _apart([rows[i] for i in places]), strict=True):
                found[place] = text
    return found


def _apart(rows: Sequence[ResultRow]) -> list[str]:
    for settings in (_of_model, _of_training, _of_data):
        told = [settings(row) for row in rows]
        keys = [
            key
            for key in dict.fromkeys(key for one in told for key in one)
            if len({repr(one.get(key)) for one in told}) > 1
        ]
        if keys:
            return [", ".join(f"{key} = {format_value(one[key])}" for key in keys if key in one) for one in told]
    return [""] * len(rows)


def _of_model(row: ResultRow) -> dict[str, Any]:
    encoding = row.first.spec.encoding
    chosen = {key: value for key, value in row.first.spec.settings.items() if key not in row.chosen}
    return chosen | ({f"{encoding.name} {key}": value for key, value in encoding.arguments.items()} if encoding else {})


def _of_training(row: ResultRow) -> dict[str, Any]:
    return vars(row.first.spec.rules)


def _of_data(row: ResultRow) -> dict[str, Any]:
    spec = row.first.spec
    return {
        "data": spec.data[:12],
        "plug-ins": ", ".join(f"{name} {str(spec.plugins[name])[:8]}" for name in spec.plugins),
    }
