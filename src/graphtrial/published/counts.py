"""Compare published parameter counts with those of the models built here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from graphtrial.core.spec import Component
from graphtrial.encodings import ENCODINGS
from graphtrial.encodings.notation import split_encodings
from graphtrial.nn import MODELS, parameter_count
from graphtrial.nn.shapes import EncodingShape
from graphtrial.published.configurations import Configuration, configurations
from graphtrial.published.papers import TABLES
from graphtrial.published.printed_results import PublishedResult, published_results
from graphtrial.published.shapes import published_shapes

DIFFERENT = "the counts differ"


@dataclass(frozen=True)
class ParameterCheck:
    """A published parameter count and that of the model built here.

    `table` is the number of the printed table, or the file of a released configuration. `settings` are those of the
    model, `source` their origin; `reason` explains a difference, or why there is no count.
    """

    paper: str
    table: int | str
    dataset: str
    model: str
    label: str
    variant: Mapping[str, Any]
    layers: int | None
    published: int | None
    built: int | None
    match: bool
    settings: Mapping[str, Any]
    source: str
    reason: str | None


def parameter_checks() -> list[ParameterCheck]:
    """Return every count of the printed tables, then of the released configurations of modern models, with ours."""
    registered = MODELS.names()
    printed = (row for row in published_results() if row.params is not None and (row.paper, row.table) in TABLES)
    released = (config for config in configurations() if config.source)
    return [
        *(_printed(row, registered) for row in printed),
        *(_released(config, registered) for config in released),
    ]


def _printed(row: PublishedResult, registered: list[str]) -> ParameterCheck:
    """Check a printed count, which includes unused batch norms, as the reference implementation does."""
    printed, model = row.printed, row.models[0] if len(row.models) == 1 else None
    settings = model.settings if model else {}
    counted = {key: value for key, value in settings.items() if (key, value) != ("batch_norm", False)}
    encoding = f"laplacian:{printed.variant['pe_dim']}" if "pe_dim" in printed.variant else "none"
    built, reason = _built(model.name if model else None, printed.dataset, encoding, counted, registered)
    return ParameterCheck(
        row.paper, row.table, printed.dataset, printed.model, row.label, printed.variant, row.layers, row.params, built,
        built == row.params, settings, row.source,
        None if built == row.params else reason or row.erratum or row.reason or DIFFERENT,
    )  # fmt: skip


def _released(config: Configuration, registered: list[str]) -> ParameterCheck:
    printed, (repository, _, path) = config.printed, config.source.partition(" ")
    model = config.model if config.shapes else None
    built, reason = _built(model, config.shapes or "", config.encoding, config.settings, registered)
    match = built is not None and built == config.params
    return ParameterCheck(
        config.paper, path, printed.dataset, printed.model, printed.model, printed.variant, config.layers,
        config.params, built, match, config.settings, repository,
        None if match else reason or config.reason or DIFFERENT,
    )  # fmt: skip


def _built(
    model: str | None, shapes: str, encoding: str, settings: Mapping[str, Any], registered: list[str]
) -> tuple[int | None, str | None]:
    """Return the count of a model, or why it is not built."""
    if model is not None and model not in registered:
        return None, f"model {model} is not registered"
    return (None if model is None else _count(model, shapes, encoding, json.dumps(dict(settings)))), None


@cache
def _count(name: str, dataset: str, encoding: str, settings: str) -> int:
    parts = [] if encoding == "none" else [Component.parse(part, ENCODINGS.get) for part in split_encodings(encoding)]
    widths = tuple(EncodingShape(part.name, ENCODINGS.get(part.name)(**part.arguments).width) for part in parts)
    shapes = published_shapes(dataset, sum(part.width for part in widths))
    if shapes is None:
        raise LookupError(f"published/shapes.csv has no line for {dataset}")
    return parameter_count(name, replace(shapes, encodings=widths), json.loads(settings))
