"""Model selection: the trial with the best validation score of each fold, where the rules select settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from graphtrial.trials.store import TrialRecord

INCOMPLETE = "incomplete"
"""Status of a fold without a finished trial of every candidate."""


def select_trials(group: list[TrialRecord]) -> list[TrialRecord]:
    """Return the trial with the best validation score of each split and seed; all trials if no setting is selected.

    Ties go to the first, in the order of the selected settings. A fold without a result for a candidate of another fold
    is incomplete: its trial has the status `INCOMPLETE` and no scores.
    """
    selected = group[0].spec.kind.selected
    if not selected:
        return group
    folds: dict[tuple[int, int], dict[tuple[Any, ...], TrialRecord]] = {}
    for trial in group:
        point = tuple(trial.spec.settings.get(name) for name in selected)
        folds.setdefault((trial.spec.seed, trial.spec.split), {})[point] = trial
    candidates = {point for fold in folds.values() for point in fold}
    trials = []
    for fold in folds.values():
        points = sorted(fold)
        best = fold[points[0]]
        if set(fold) != candidates or not all(trial.is_finished for trial in fold.values()):
            trials.append(replace(best, status=INCOMPLETE, scores={}))
            continue
        for trial in (fold[point] for point in points[1:]):
            if "val" in trial.scores and ("val" not in best.scores or _is_better(trial, best)):
                best = trial
        trials.append(best)
    return trials


def kernel_choice(trial: TrialRecord) -> dict[str, Any]:
    """Return the refinement steps and the penalty that validation selected for a fold of a kernel."""
    chosen = {name: trial.details.get(name) for name in ("h", "penalty")}
    return {name: value for name, value in chosen.items() if isinstance(value, int | float)}


def shared_specification(trial: TrialRecord) -> dict[str, Any]:
    """Return the specification shared by the trials of a row: all but split, seed and selected settings."""
    values, selected = trial.spec.row, trial.spec.kind.selected
    model = values["model"]
    model["arguments"] = {key: value for key, value in model.get("arguments", {}).items() if key not in selected}
    return values


def _is_better(trial: TrialRecord, other: TrialRecord) -> bool:
    score, other_score = trial.scores["val"], other.scores["val"]
    return score > other_score if trial.higher_is_better else score < other_score
