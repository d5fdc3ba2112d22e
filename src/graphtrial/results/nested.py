"""Nested selection: searches of one declaration, one for each outer fold, whose tests are one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from graphtrial.core.spec import digest
from graphtrial.results.searches import Searched
from graphtrial.trials.store import TrialRecord
from graphtrial.trials.store.searches import FOLD, SearchRecord


@dataclass(frozen=True)
class NestedSelection:
    """The searches of a model on the outer folds, and what they searched; each chose for its fold.

    `id` is the hash of their declaration without the fold; `settings` include the width that follows from a budget.
    """

    id: str
    searched: Searched
    settings: tuple[str, ...]
    searches: tuple[SearchRecord, ...]

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of the searched rules."""
        return self.searched.rules

    def choice(self, trial: TrialRecord) -> dict[str, Any]:
        """Return what was chosen for the fold of a trial."""
        settings = trial.spec.settings
        return {name: settings[name] for name in self.settings if name in settings} | self.searched.of(trial)


def nested_selections(searches: Sequence[SearchRecord]) -> list[NestedSelection]:
    """Return the nested selections among searches, each with its folds in order."""
    groups: dict[str, list[SearchRecord]] = {}
    for search in searches:
        if isinstance(search.declaration.get(FOLD), int):
            groups.setdefault(_shared(search), []).append(search)
    return [_selection(shared, sorted(group, key=_fold)) for shared, group in groups.items()]


def fold_means(trials: Sequence[TrialRecord], part: str) -> list[float]:
    """Return the mean score of the runs of each fold, folds in order."""
    of_fold: dict[int, list[float]] = {}
    for trial in trials:
        if part in trial.scores:
            of_fold.setdefault(trial.spec.split, []).append(trial.scores[part])
    return [fmean(of_fold[fold]) for fold in sorted(of_fold)]


def _shared(search: SearchRecord) -> str:
    return digest({key: value for key, value in search.declaration.items() if key != FOLD})


def _fold(search: SearchRecord) -> int:
    return int(search.declaration[FOLD])


def _selection(shared: str, searches: list[SearchRecord]) -> NestedSelection:
    searched = Searched.by(searches[0])
    subject = searches[0].declaration.get("subject")
    given = subject.get("settings") if isinstance(subject, dict) else None
    width = [] if isinstance(given, dict) and "width" in given else ["width"]
    settings = tuple(dict.fromkeys([*searched.settings, *width]))
    return NestedSelection(shared, searched, settings, tuple(searches))
