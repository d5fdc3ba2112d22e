"""Look up the published row that matches a trial."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import Component
from graphtrial.encodings.notation import JOINED, parts_of, short_encoding
from graphtrial.nn import MODELS, implied_settings, model_settings
from graphtrial.published.configurations import AS_PUBLISHED
from graphtrial.published.papers import NOT_COMPARED, PAPERS, TABLES
from graphtrial.published.printed_results import PublishedModel, PublishedResult, experiments, published_results


def find_published(
    protocol: str,
    dataset: str,
    model: str,
    settings: Mapping[str, Any],
    encoding: Component | None,
    params: int | None = None,
) -> PublishedResult | None:
    """Return the row that matches a trial of a protocol such as `gps/zinc`, or `None`.

    Dataset, model, encoding and the compared settings of the paper must be equal, those of an edition in either. Of
    several rows, the paper's own measurements are preferred, then main tables to ablation studies, the nearest
    parameter count, a printed depth.
    """
    rows = _comparable(protocol, dataset, model, settings, encoding)
    return min(rows, key=lambda row: _distance(row, params), default=None)


def find_in_table(
    paper: str,
    table: int | str,
    dataset: str,
    model: str,
    settings: Mapping[str, Any],
    encoding: Component | None,
    params: int | None = None,
) -> list[PublishedResult]:
    """Return the rows of one table that match a trial: all rows of the nearest experiment."""
    rows = [row for row in _comparable(paper, dataset, model, settings, encoding) if row.table == table]
    return same_experiment(min(rows, key=lambda row: _distance(row, params))) if rows else []


def same_experiment(row: PublishedResult) -> list[PublishedResult]:
    """Return the rows of a table about the same trials: one per metric, target or repetition."""
    return [other for other in published_results(row.paper, row.table) if other.experiment == row.experiment]


def models_in_table(
    table: str, dataset: str, model: str, settings: Mapping[str, Any], encoding: Component | None
) -> list[tuple[PublishedResult, PublishedModel]]:
    """Return each experiment of a table such as `bgnn-v5/table-3` that matches a model, its settings and encoding."""
    return [
        (row, published)
        for row in experiments(*parse_table(table))
        if not row.reason and dataset in row.datasets and row.encoding == short_encoding(encoding)
        for published in row.models
        if published.name == model and _equal(settings, published)
    ]


def parse_table(text: str) -> tuple[str, int]:
    """Parse the name of a published table such as `bgnn-v5/table-3`."""
    parts = re.fullmatch(r"([\w-]+)/table-(\d+)", text)
    if not parts or (parts[1], int(parts[2])) not in TABLES:
        raise GraphTrialError(f"no published table called '{text}'; write for example bgnn-v5/table-3")
    return parts[1], int(parts[2])


def resolved(model: PublishedModel) -> dict[str, Any]:
    """Return the settings of a published model, defaults included; those of a kernel unchanged."""
    if model.name not in MODELS:
        return dict(model.settings)
    return {**model_settings(model.name), **implied_settings(model.name, model.settings), **model.settings}


def compared_settings(paper: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings in which a row of a paper and a trial must agree."""
    names = PAPERS[paper].compared_settings
    if names is None:
        return {key: value for key, value in settings.items() if key not in NOT_COMPARED}
    return {key: settings[key] for key in names if key in settings}


def sound_settings(published: PublishedResult, model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a trial in which the published model has those of the edition as published."""
    matching = next((row for row in published.models if row.name == model), None)
    if matching is None:
        return {}
    faults = {key: value for key, value in _declared(model, "as_published").items() if key not in matching.settings}
    return {key: settings.get(key) for key, fault in faults.items() if settings.get(key) != fault}


def _comparable(
    protocol: str, dataset: str, model: str, settings: Mapping[str, Any], encoding: Component | None
) -> Iterator[PublishedResult]:
    paper = protocol.partition("/")[0]
    if paper not in PAPERS:  # a protocol of the user's own
        return
    compared = compared_settings(paper, settings)
    encodings = dict.fromkeys((short_encoding(encoding), _sound_encoding(model, encoding)))
    for rules, text in product(dict.fromkeys((paper, protocol.removesuffix(AS_PUBLISHED))), encodings):
        for row, published in _index().get((rules, dataset, model, text), ()):
            if _equal(compared, published):
                yield row


@cache
def _index() -> dict[tuple[str, ...], list[tuple[PublishedResult, PublishedModel]]]:
    """Return the first row of each experiment by protocol or paper, dataset, model and encoding."""
    index: dict[tuple[str, ...], list[tuple[PublishedResult, PublishedModel]]] = {}
    tables = dict.fromkeys((row.paper, row.table) for row in published_results())
    for row in (row for key in tables for row in experiments(*key) if not row.reason):
        for dataset in row.datasets:
            for model in row.models:
                index.setdefault((row.protocol or row.paper, dataset, model.name, row.encoding), []).append(
                    (row, model)
                )
    return index


def _equal(settings: Mapping[str, Any], published: PublishedModel) -> bool:
    """Return whether settings are those of a published model, in either edition where it leaves them open."""
    sound = resolved(published)
    edition = {**sound, **_declared(published.name, "as_published"), **published.settings}
    return all(value in (sound.get(key), edition.get(key)) for key, value in settings.items())


def _sound_encoding(model: str, encoding: Component | None) -> str:
    """Return an encoding in short, without the arguments of the edition as published."""
    faults = _declared(model, "encodings_as_published")
    parts = []
    for part, _ in parts_of(encoding):
        fault = faults.get(part.name, {})
        faulty = fault.items() <= part.arguments.items()
        arguments = {key: value for key, value in part.arguments.items() if not faulty or key not in fault}
        parts.append(short_encoding(Component(part.name, arguments)))
    return JOINED.join(parts) or "none"


def _declared(model: str, name: str) -> Mapping[str, Any]:
    """Return what a registered model declares of its edition as published."""
    declared: Mapping[str, Any] = getattr(MODELS.get(model), name, {}) if model in MODELS else {}
    return declared


def _distance(row: PublishedResult, params: int | None) -> tuple[bool, bool, float, bool]:
    log_ratio = 0.0
    if params:
        log_ratio = abs(math.log(row.params / params)) if row.params else math.inf
    layout = TABLES.get((row.paper, row.table))
    return (row.origin != "own", layout is not None and not layout.main, log_ratio, row.layers is None)
