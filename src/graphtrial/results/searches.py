"""Configurations of a search: what was tried, its validation score and what it cost, from the trials of a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from graphtrial.encodings.notation import short_encoding
from graphtrial.trials.store import TrialRecord
from graphtrial.trials.store.searches import FOLD, SearchRecord


@dataclass(frozen=True)
class Searched:
    """Names of the parameters of a search, by what they belong to."""

    settings: tuple[str, ...]
    rules: tuple[str, ...]
    encoding: bool

    @classmethod
    def by(cls, search: SearchRecord) -> Searched:
        """Return the parameters of the space that a search declares."""
        parts: dict[str, list[str]] = {}
        space = search.declaration.get("space")
        for name, parameter in (space if isinstance(space, dict) else {}).items():
            parts.setdefault(str(parameter.get("part")) if isinstance(parameter, dict) else "", []).append(name)
        return cls(tuple(parts.get("settings", ())), tuple(parts.get("rules", ())), "encoding" in parts)

    def of(self, trial: TrialRecord) -> dict[str, Any]:
        """Return the values of the parameters in a trial; defaults where a parameter was not active."""
        spec = trial.spec
        rules = spec.rules.flat()
        return {
            **{name: spec.settings[name] for name in self.settings if name in spec.settings},
            **{name: rules[name] for name in self.rules if name in rules},
            **({"encoding": short_encoding(spec.encoding)} if self.encoding else {}),
        }


@dataclass(frozen=True)
class Tried:
    """A configuration of a search; without a score where its trials ended or paused without one."""

    fold: int | None
    number: int
    point: dict[str, Any]
    width: int | None
    val: float | None
    epochs: int
    core_hours: float
    status: str
    chosen: bool


def tried_configurations(search: SearchRecord, trials: Mapping[str, TrialRecord]) -> list[Tried]:
    """Return the configurations of a search in their order; only the cost is known where a trial is missing."""
    searched = Searched.by(search)
    fold = search.declaration.get(FOLD)
    tried = []
    for number, ids in enumerate(search.configurations):
        records = [trials[trial] for trial in ids if trial in trials]
        # Where another search trained the same trials for longer, the score is not one that this search saw.
        complete = len(records) == len(ids) and sum(one.epochs or 0 for one in records) == search.epochs[number]
        scores = [one.scores["val"] for one in records if "val" in one.scores] if complete else []
        width = records[0].spec.settings.get("width") if records else None
        tried.append(
            Tried(
                fold=fold if isinstance(fold, int) else None,
                number=number,
                point=searched.of(records[0]) if records else {},
                width=width if isinstance(width, int) and "width" not in searched.settings else None,
                val=fmean(scores) if records and len(scores) == len(ids) else None,
                epochs=search.epochs[number],
                core_hours=search.core_seconds[number] / 3600,
                status=", ".join(dict.fromkeys(one.status for one in records)) if complete else "paused",
                chosen=number == search.winner,
            )
        )
    return tried
