"""The commands that make the trials of a row from nothing."""

from __future__ import annotations

import shlex

from graphtrial.core.spec import format_value
from graphtrial.results.rows import ResultRow
from graphtrial.studies.plan import PlannedRow
from graphtrial.training import PROTOCOLS
from graphtrial.trials.trial import TrialSpec


def run_command(row: ResultRow) -> str | None:
    """Return the `graphtrial run` that gives exactly the trials of a row, every setting written out, or nothing.

    There is none where validation chose settings, for kernels, for a setting that a command cannot say, and where the
    splits and seeds are not the first ones of the protocol.
    """
    spec = row.first.spec
    name = spec.protocol.partition("@")[0]
    if not spec.kind.has_epochs or spec.kind.draws_folds or name not in PROTOCOLS:
        return None
    protocol = PROTOCOLS.get(name)
    places = {(trial.spec.split, trial.spec.seed) for trial in row.trials}
    splits = 1 + max(split for split, _ in places)
    seeds = len({seed for _, seed in places})
    if places != {(split, seed) for split in range(splits) for seed in protocol.first_seeds(seeds)}:
        return None
    words = _run_words(spec)
    for origin in spec.plugins:
        file = origin.partition("~")[0]  # without what tells files of one name apart
        words += ["--plugin", file] if file.endswith(".py") else []
    return shlex.join([*words, "--seeds", str(seeds), "--splits", str(splits)])


def planned_command(study: str, row: PlannedRow) -> str:
    """Return the command that runs one row of a study: every setting written out, or the part of the study.

    Rows of which validation chooses settings, and kernels, are run by the study alone.
    """
    if not row.kind.has_epochs or row.kind.draws_folds:
        return shlex.join(["graphtrial", "study", study, "--datasets", row.dataset, "--models", row.model.name])
    return shlex.join(_run_words(row))


def _run_words(row: PlannedRow | TrialSpec) -> list[str]:
    """Return the words of `graphtrial run` for a model with its settings, encoding, protocol and changed rules."""
    words = ["graphtrial", "run", row.dataset, row.model.name]
    if row.encoding is not None:
        words += ["--encoding", str(row.encoding)]
    for key, value in row.settings.items():
        if value is not None:
            words += ["--set", f"{key}={format_value(value)}"]
    name = row.protocol.partition("@")[0]
    words += ["--protocol", name]
    official = PROTOCOLS.get(name).rules_for(row.model.name, row.settings.get("layers"))
    for key, value in row.rules.difference(official).items():
        words += ["--rule", f"{key}={'none' if value is None else format_value(value)}"]
    return words
