"""Commands that run the trials of a row without a store."""

from __future__ import annotations

import shlex

from graphtrial.core.spec import Component, declared_defaults, format_value
from graphtrial.encodings import ENCODINGS
from graphtrial.encodings.notation import JOINED, format_encoding, parts_of
from graphtrial.nn.registry import MODELS
from graphtrial.results.rows import ResultRow
from graphtrial.studies.plan import PlannedRow
from graphtrial.training import PROTOCOLS
from graphtrial.trials.trial import TrialSpec


def run_command(row: ResultRow) -> str | None:
    """Return the `graphtrial run` of exactly the trials of a row, with every setting; `None` where there is none.

    There is none where settings are selected by fold, for kernels, and where splits and seeds are not the first of
    the protocol.
    """
    spec = row.first.spec
    name = spec.protocol.partition("@")[0]
    if not spec.kind.has_epochs or spec.kind.draws_folds or row.nested is not None or name not in PROTOCOLS:
        return None
    protocol = PROTOCOLS.get(name)
    places = {(trial.spec.split, trial.spec.seed) for trial in row.trials}
    splits = 1 + max(split for split, _ in places)
    seeds = len({seed for _, seed in places})
    if places != {(split, seed) for split in range(splits) for seed in protocol.first_seeds(seeds)}:
        return None
    words = _run_arguments(spec)
    for origin in spec.plugins:
        file = origin.partition("~")[0]  # without the suffix of files with equal names
        words += ["--plugin", file] if file.endswith(".py") else []
    return shlex.join([*words, "--seeds", str(seeds), "--splits", str(splits)])


def planned_command(study: str, row: PlannedRow) -> str:
    """Return the command that runs one row of a study: `graphtrial run` with every setting, or a part of the study.

    Kernels, and rows of which validation selects settings, are run by `graphtrial study`.
    """
    if not row.kind.has_epochs or row.kind.draws_folds:
        return shlex.join(["graphtrial", "study", study, "--datasets", row.dataset, "--models", row.model.name])
    return shlex.join(_run_arguments(row))


def _run_arguments(row: PlannedRow | TrialSpec) -> list[str]:
    """Return `graphtrial run` with arguments for a model, its settings, encoding, protocol and changed rules."""
    words = ["graphtrial", "run", row.dataset, row.model.name]
    if row.encoding is not None:
        words += ["--encoding", _encoding_argument(row.encoding, row.model.name)]
    for key, value in row.settings.items():
        if value is not None:
            words += ["--set", f"{key}={format_value(value)}"]
    name = row.protocol.partition("@")[0]
    words += ["--protocol", name]
    official = PROTOCOLS.get(name).rules_for(row.model.name, row.settings.get("layers"))
    for key, value in row.rules.difference(official).items():
        words += ["--rule", f"{key}={'none' if value is None else format_value(value)}"]
    return words


def _encoding_argument(encoding: Component, model: str) -> str:
    """Return an encoding that `--encoding` reads as the same one for this model.

    A specification leaves out defaults; those that a model without `randomised_encodings` replaces are written out.
    """
    if model not in MODELS or getattr(MODELS.get(model), "randomised_encodings", True):
        return format_encoding(encoding)
    parts = []
    for part, _ in parts_of(encoding):
        kind = ENCODINGS.get(part.name) if part.name in ENCODINGS else None
        replaced = {} if kind is None else {key: declared_defaults(kind)[key] for key in kind.unrandomised}
        parts.append(Component(part.name, {**replaced, **part.arguments}))
    return JOINED.join(str(part) for part in parts)
