"""Departures of a row from the published experiment, and what else forbids or qualifies a comparison with its score."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.base import DatasetSpec, Source, lookup_dataset
from graphtrial.published import PublishedResult
from graphtrial.published.lookup import sound_settings
from graphtrial.training import PROTOCOLS
from graphtrial.trials.provenance import changed_version
from graphtrial.trials.store import TrialRecord

if TYPE_CHECKING:
    from graphtrial.results.rows import ResultRow

SIZE_TOLERANCE = 0.05
ORIGINS = {
    "quoted": "quoted by another paper",
    "leaderboard": "an entry of a leaderboard",
    "rebuttal": "from a rebuttal",
    "issue": "reported by a user",
    "unclear": "the paper's own or quoted, which it does not say",
}
"""Published numbers that give no verdict."""
Badge = Literal["other data", "changed rules", "old version"]
EXPLANATION = (
    "[other data]: not the published data; [changed rules]: not the protocol's own rules; [old version]: of a model or "
    "encoding that was fixed since. Such rows are counted separately, compared among themselves, and never the best of "
    "a dataset."
)


@dataclass(frozen=True)
class Departure:
    """A difference from the published experiment; `comparable` if the scores can still be compared."""

    badge: Badge
    reason: str
    comparable: bool


def departures_of(trials: Iterable[TrialRecord], selected: Collection[str] = ()) -> tuple[Departure, ...]:
    """Return the departures of the trials of a row: other data, changed rules but the selected ones, old version."""
    first, *others = trials
    source = next((source for trial in (first, *others) if (source := _recorded_source(trial))), None)
    data = _data(first, source)
    rules = changed_rules(first, selected)
    changed = Departure("changed rules", rules, False) if rules else None
    return tuple(departure for departure in (data, changed, _version(first)) if departure)


def changed_rules(trial: TrialRecord, selected: Collection[str] = ()) -> str:
    """Return the rules that differ from the protocol's own, such as `stopping.max_epochs = 3`; empty for none.

    Those that a nested selection chooses for each fold are no change.
    """
    spec, protocol = trial.spec, trial.spec.protocol.partition("@")[0]
    if protocol not in PROTOCOLS:
        return ""
    official = PROTOCOLS.get(protocol).rules_for(spec.model.name, spec.settings.get("layers"))
    changes = {key: value for key, value in spec.rules.difference(official).items() if key not in selected}
    return ", ".join(f"{key} = {'none' if value is None else value}" for key, value in changes.items())


def _version(trial: TrialRecord) -> Departure | None:
    """Return the departure of an old version of model, kernel or encoding; `None` where these are not registered."""
    try:
        changed = changed_version(trial.spec)
    except GraphTrialError:  # a plug-in that is not loaded or not allowed
        return None
    return Departure("old version", changed, False) if changed else None


def badges(row: ResultRow) -> str:
    """Return the badges of a row as in tables: `[other data]`."""
    return " ".join(f"[{departure.badge}]" for departure in row.departures)


def _data(trial: TrialRecord, recorded: str | None) -> Departure | None:
    """Return the departure of data that are not the published ones.

    The source is the one recorded with the trial, or the only one, or the one that declares the hash of the data.
    """
    spec = lookup_dataset(trial.spec.dataset)
    if spec is None:
        return None
    source = _source(spec, recorded, trial.spec.data)
    if source is not None:
        return Departure("other data", source.difference, source.comparable) if source.difference else None
    if not any(source.difference for source in spec.sources):
        return None
    return Departure("other data", "the source of the data is unknown", True)


def _source(spec: type[DatasetSpec], recorded: str | None, data: str) -> Source | None:
    by_name = {source.name: source for source in spec.sources}
    if recorded in by_name:
        return by_name[recorded]
    if len(spec.sources) == 1:
        return spec.sources[0]
    return next((source for source in spec.sources if data in source.hashes), None)


def _recorded_source(trial: TrialRecord) -> str | None:
    source = trial.environment.get("source")
    return source if isinstance(source, str) else None


def obstacle(row: ResultRow, printed: PublishedResult) -> str | None:
    """Return why the scores cannot be compared, or `None`."""
    for departure in row.departures:
        if not departure.comparable:
            return f"{departure.badge}: {departure.reason}"
    if printed.origin != "own":
        score = printed.test.text if printed.test else ""
        return f"published {score} is {ORIGINS[printed.origin]} (read in: {printed.citation})"
    if printed.incomparable:
        return printed.incomparable
    if printed.doubtful:
        return "the published cell is doubtful"
    if row.params and printed.params_exact and row.has_epochs:
        off, size = row.params / printed.params_exact - 1, printed.params or printed.params_exact
        if abs(off) > SIZE_TOLERANCE:
            return f"the models differ in size: {row.params} parameters here, {size} published ({off:+.0%})"
    if row.first.higher_is_better != printed.higher_is_better:
        return f"the metrics differ: {row.first.metric} here, {printed.metric} published"
    if row.scores("test") is None:
        return "no trial has a score yet"
    return f"the paper prints no score: {printed.status}" if printed.test is None else None


def remarks(row: ResultRow, printed: PublishedResult) -> str:
    """Return what qualifies a comparison: another edition, a score not read in the paper, an erratum."""
    return _edition(row, printed) + _provenance(printed)


def _edition(row: ResultRow, printed: PublishedResult) -> str:
    """Return in which settings ours is the sound edition and the published score of the released code, if in any."""
    spec = row.first.spec
    sound = sound_settings(printed, spec.model.name, spec.settings)
    settings = ", ".join(f"{key} = {value}" for key, value in sound.items())
    return f"; ours is the sound edition ({settings}), the published score is of the released code" if sound else ""


def _provenance(printed: PublishedResult) -> str:
    """Return where a score was read, if not in the paper, and what is known to be wrong with it."""
    read = f"; read in: {printed.citation}" if printed.citation not in ("", "full text") else ""
    return read + (f"; {printed.erratum}" if printed.erratum else "")
