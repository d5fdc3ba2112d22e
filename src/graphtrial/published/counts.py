"""Compare printed parameter counts with those of the models built here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from graphtrial.nn import MODELS, parameter_count
from graphtrial.published.printed_results import PublishedResult, published_results
from graphtrial.published.shapes import published_shapes


@dataclass(frozen=True)
class ParameterCheck:
    """A printed parameter count and that of the model built here.

    `settings` are those of the model, `source` their origin; `reason` explains a difference, or why no model is built.
    """

    paper: str
    table: int
    dataset: str
    model: str
    label: str
    variant: Mapping[str, Any]
    layers: int | None
    published: int
    built: int | None
    match: bool
    settings: Mapping[str, Any]
    source: str
    reason: str | None


def parameter_checks() -> list[ParameterCheck]:
    """Return every printed parameter count with ours, in the order of the papers."""
    registered = MODELS.names()
    return [_check(row, row.params, registered) for row in published_results() if row.params is not None]


def _check(row: PublishedResult, params: int, registered: list[str]) -> ParameterCheck:
    settings: Mapping[str, Any] = {}
    built, reason = None, row.erratum or row.reason
    if len(row.models) == 1:
        model = row.models[0]
        settings = model.settings
        if model.name not in registered:
            reason = f"model {model.name} is not registered"
        else:
            built = _count(model.name, row.printed.dataset, row.printed.variant.get("pe_dim", 0), json.dumps(settings))
    match = built == params
    return ParameterCheck(
        row.paper, row.table, row.printed.dataset, row.printed.model, row.label, row.printed.variant, row.layers,
        params, built, match, settings, row.source, None if match else reason or "the counts differ",
    )  # fmt: skip


@cache
def _count(name: str, dataset: str, encoding_dim: int, settings: str) -> int:
    """Count the parameters of a model, including unused batch norms, as the reference implementation does."""
    shapes = published_shapes(dataset, encoding_dim)
    if shapes is None:
        raise LookupError(f"published/shapes.csv has no line for {dataset}")
    built = {key: value for key, value in json.loads(settings).items() if (key, value) != ("batch_norm", False)}
    return parameter_count(name, shapes, built)
