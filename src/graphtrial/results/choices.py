"""Which trial of each fold counts, where the rules let the validation part choose some settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from graphtrial.trials.store import TrialRecord

INCOMPLETE = "incomplete"
"""The status of a fold of which not every model to choose from has been tried."""


def choose(group: list[TrialRecord]) -> list[TrialRecord]:
    """Return the trial with the best validation score of each split and seed, where the rules say so; else all.

    Of equally good ones the first is taken, in the order of the settings to choose. A fold that lacks the result of a
    model that another fold has tried is not chosen for yet: its trial is marked incomplete and has no scores.
    """
    selected = group[0].spec.kind.selected
    if not selected:
        return group
    folds: dict[tuple[int, int], dict[tuple[Any, ...], TrialRecord]] = {}
    for trial in group:
        point = tuple(trial.spec.settings.get(name) for name in selected)
        folds.setdefault((trial.spec.seed, trial.spec.split), {})[point] = trial
    everything = {point for tried in folds.values() for point in tried}
    made = []
    for tried in folds.values():
        points = sorted(tried)
        best = tried[points[0]]
        if set(tried) != everything or not all(trial.is_finished for trial in tried.values()):
            made.append(replace(best, status=INCOMPLETE, scores={}))
            continue
        for trial in (tried[point] for point in points[1:]):
            if "val" in trial.scores and ("val" not in best.scores or _is_better(trial, best)):
                best = trial
        made.append(best)
    return made


def _is_better(one: TrialRecord, other: TrialRecord) -> bool:
    mine, theirs = one.scores["val"], other.scores["val"]
    return mine > theirs if one.higher_is_better else mine < theirs
