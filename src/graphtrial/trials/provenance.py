"""Provenance of a trial: source files of its user-defined parts, and versions of model, kernel and encoding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphtrial.core.errors import GraphTrialError, UnknownNameError
from graphtrial.core.plugins.origins import origin_digests
from graphtrial.core.registry import version_of
from graphtrial.core.spec import Component
from graphtrial.datasets import DATASETS, load
from graphtrial.encodings import ENCODINGS
from graphtrial.encodings.notation import format_encoding, parts_of
from graphtrial.tasks import Task
from graphtrial.trials.kinds import TrialKind

if TYPE_CHECKING:
    from graphtrial.trials.trial import TrialSpec


def source_digests(
    kind: TrialKind[Any], dataset: str, model: str, encoding: Component | None, task: Task | None = None
) -> dict[str, str]:
    """Return name and SHA-256 of the source files outside this package that determine the result of a trial.

    The protocol is part of the specification. The task is that of the dataset as loaded; only a dataset from outside
    can take it from yet another file.
    """
    dataset_type = DATASETS.get(dataset)
    parts: list[Any] = [dataset_type]
    if origin_digests(dataset_type):
        parts.extend((task or load(dataset).task).definitions)
    parts += kind.origins(model)
    parts += [ENCODINGS.get(part.name) for part, _ in parts_of(encoding)]
    return origin_digests(*parts)


def current_versions(kind: TrialKind[Any], model: str, encoding: Component | None) -> tuple[int, int]:
    """Return the current versions of the model or kernel and of the encoding; 0 without an encoding."""
    return kind.version(model), version_of(ENCODINGS, encoding.name) if encoding else 0


def check_plugins(spec: TrialSpec) -> None:
    """Raise an error unless the plug-in files of a trial are those of its specification."""
    try:
        now = source_digests(spec.kind, spec.dataset, spec.model.name, spec.encoding)
    except UnknownNameError:
        if not spec.plugins:
            raise
        now = {}
    for name, expected in spec.plugins.items():
        if now.get(name) != expected:
            state = "has changed since" if name in now else "is not loaded: give it by --plugin"
            raise GraphTrialError(f"trial {spec.id} was run with {name} (sha256 {expected[:12]}), which {state}")
    for name in now:
        if name not in spec.plugins:
            raise GraphTrialError(f"trial {spec.id} was run without {name}, which defines a part of it here")


def check_versions(spec: TrialSpec) -> None:
    """Raise an error if the model, kernel or encoding of a trial has another version now: results would differ."""
    changed = changed_version(spec)
    if changed:
        raise GraphTrialError(f"trial {spec.id} was run with {changed}, whose numbers differ")


def changed_version(spec: TrialSpec) -> str:
    """Return the part of a trial with another version now, such as `version 1 of model 'gin'; this is version 2`."""
    model, encoding = current_versions(spec.kind, spec.model.name, spec.encoding)
    for part, then, now in (
        (f"{spec.kind.noun} '{spec.model.name}'", spec.model_version, model),
        (f"encoding '{format_encoding(spec.encoding)}'", spec.encoding_version, encoding),
        *(
            (f"encoding '{part.name}'", version, version_of(ENCODINGS, part.name))
            for part, version in parts_of(spec.encoding)
            if version
        ),
    ):
        if then != now:
            return f"version {then} of {part}; this is version {now}"
    return spec.kind.changed_version
