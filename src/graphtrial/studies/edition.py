"""Editions of a study: sound, or as published, with the known faults of the original code and data."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.registry import Registry
from graphtrial.datasets import DATASETS
from graphtrial.encodings.notation import JOINED, encoding_names, split_encodings
from graphtrial.nn import MODELS
from graphtrial.studies.study import ModelEntry, Study
from graphtrial.training import PROTOCOLS

EDITIONS = ("sound", "as-published")
SUFFIX = "-as-published"


def in_edition(study: Study, edition: str) -> Study:
    """Return the study as published, with the known faults of the papers, or unchanged (`sound`).

    Every dataset, protocol and kernel with a registered variant `NAME-as-published` is replaced by it. Settings that a
    model declares `as_published`, and arguments that it declares for encodings (`encodings_as_published`), are set
    where a row does not set them itself. docs/errata.md lists the faults.
    """
    if edition not in EDITIONS:
        raise GraphTrialError(f"no edition called '{edition}'; there are {' and '.join(EDITIONS)}")
    if edition == "sound":
        return study
    datasets = {name: _faulty(name, DATASETS) for name in study.datasets}
    return replace(
        study,
        dataset=tuple(datasets.values()),
        rows=tuple(_row(row, datasets) for row in study.rows),
        protocol=study.protocol and _faulty(study.protocol, PROTOCOLS),
    )


def _row(row: ModelEntry, datasets: dict[str, str]) -> ModelEntry:
    return replace(
        row,
        model=_faulty_kernel(row.model),
        as_published=True,
        encodings=tuple(_faulty_encoding(text, row.model) for text in row.encodings),
        protocol=row.protocol and _faulty(row.protocol, PROTOCOLS),
        datasets=row.datasets and tuple(datasets.get(name, name) for name in row.datasets),
    )


def _faulty_kernel(model: str) -> str:
    if find_spec("sklearn") is None:  # kernels need it
        return model
    from graphtrial.kernels import KERNELS

    return _faulty(model, KERNELS)


def _faulty_encoding(text: str, model: str) -> str:
    declared = getattr(MODELS.get(model), "encodings_as_published", {}) if model in MODELS else {}
    if not declared or text == "none":
        return text
    parts = split_encodings(text)
    for at, name in enumerate(encoding_names(text)):
        for key, value in declared.get(name, {}).items():
            parts[at] += "" if f"{key}=" in parts[at] else f",{key}={value}"
    return JOINED.join(parts)


def _faulty(name: str, registry: Registry[Any]) -> str:
    return f"{name}{SUFFIX}" if f"{name}{SUFFIX}" in registry else name
