"""Departures of a row from the published experiment: other data, changed rules, an old version of a model."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.base import DatasetSpec, Source, lookup_dataset
from graphtrial.training import PROTOCOLS
from graphtrial.trials.provenance import changed_version
from graphtrial.trials.store import TrialRecord

if TYPE_CHECKING:
    from graphtrial.results.rows import ResultRow

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
