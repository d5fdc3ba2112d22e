"""Nested selection: searches of one declaration, one for each outer fold, whose tests are one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from graphtrial.core.spec import digest
from graphtrial.encodings.notation import short_encoding
from graphtrial.trials.store import TrialRecord
from graphtrial.trials.store.searches import SearchRecord

FOLD = "fold"
"""Key of a declaration: the outer fold of a search."""


@dataclass(frozen=True)
class NestedSelection:
    """The searches of a model on the outer folds; `settings` and `rules` are what each chose for its fold.

    `id` is the hash of their declaration without the fold.
    """

    id: str
    settings: tuple[str, ...]
    rules: tuple[str, ...]
    encoding: bool
    searches: tuple[SearchRecord, ...]

    def choice(self, trial: TrialRecord) -> dict[str, Any]:
        """Return what was chosen for the fold of a trial."""
        spec = trial.spec
        rules = spec.rules.flat()
        return {
            **{name: spec.settings[name] for name in self.settings if name in spec.settings},
            **{name: rules[name] for name in self.rules if name in rules},
            **({"encoding": short_encoding(spec.encoding)} if self.encoding else {}),
        }


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
    declaration = searches[0].declaration
    parts: dict[str, list[str]] = {}
    space = declaration.get("space")
    for name, parameter in (space if isinstance(space, dict) else {}).items():
        parts.setdefault(str(parameter.get("part")) if isinstance(parameter, dict) else "", []).append(name)
    subject = declaration.get("subject")
    given = subject.get("settings") if isinstance(subject, dict) else None
    width = [] if isinstance(given, dict) and "width" in given else ["width"]  # it follows from the parameter budget
    settings = dict.fromkeys([*parts.get("settings", []), *width])
    return NestedSelection(shared, tuple(settings), tuple(parts.get("rules", ())), "encoding" in parts, tuple(searches))
