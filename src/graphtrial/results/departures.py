"""What sets a row apart from the published experiment: other data, changed rules, a model that was mended since."""

from __future__ import annotations

from collections.abc import Iterable
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
    "encoding that was mended since. Such rows are counted apart and are nobody's best score."
)


@dataclass(frozen=True)
class Departure:
    """One way in which a row is not the published experiment; `comparable` where its scores still compare."""

    badge: Badge
    reason: str
    comparable: bool


def departures_of(trials: Iterable[TrialRecord]) -> tuple[Departure, ...]:
    """Return all departures of the trials of a row, other data first."""
    first, *others = trials
    source = next((found for trial in (first, *others) if (found := _recorded(trial))), None)
    data = _data(first, source)
    rules = changed_rules(first)
    changed = Departure("changed rules", rules, False) if rules else None
    return tuple(found for found in (data, changed, _version(first)) if found)


def changed_rules(trial: TrialRecord) -> str:
    """Return the rules that differ from the protocol's own, such as `stopping.max_epochs = 3`; empty for none."""
    spec, protocol = trial.spec, trial.spec.protocol.partition("@")[0]
    if protocol not in PROTOCOLS:
        return ""
    official = PROTOCOLS.get(protocol).rules_for(spec.model.name, spec.settings.get("layers"))
    changes = spec.rules.difference(official)
    return ", ".join(f"{key} = {'none' if value is None else value}" for key, value in changes.items())


def _version(trial: TrialRecord) -> Departure | None:
    """Return how the model, kernel or encoding differs from today's; nothing where it is not known here."""
    try:
        changed = changed_version(trial.spec)
    except GraphTrialError:  # a plug-in that is not loaded or not allowed
        return None
    return Departure("old version", changed, False) if changed else None


def badges(row: ResultRow) -> str:
    """Return the badges of a row as tables write them: `[other data]`."""
    return " ".join(f"[{departure.badge}]" for departure in row.departures)


def _data(trial: TrialRecord, recorded: str | None) -> Departure | None:
    """Return how the data differ from the published ones.

    The source is the one that the trial recorded, or that is known by the hash of its data, or the only one there is.
    """
    spec = lookup_dataset(trial.spec.dataset)
    if spec is None:
        return None
    source = _source(spec, recorded, trial.spec.data)
    if source is not None:
        return Departure("other data", source.difference, source.comparable) if source.difference else None
    if not any(source.difference for source in spec.sources):
        return None
    return Departure("other data", "it is not known from which source the data were made", True)


def _source(spec: type[DatasetSpec], recorded: str | None, data: str) -> Source | None:
    by_name = {source.name: source for source in spec.sources}
    if recorded in by_name:
        return by_name[recorded]
    if len(spec.sources) == 1:
        return spec.sources[0]
    return next((source for source in spec.sources if data in source.hashes), None)


def _recorded(trial: TrialRecord) -> str | None:
    source = trial.environment.get("source")
    return source if isinstance(source, str) else None
