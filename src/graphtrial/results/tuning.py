"""What the tuning of a row cost, from the searches of a store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphtrial.trials.store import TrialRecord
from graphtrial.trials.store.searches import SearchRecord

TOLERANCE = 0.1
"""Largest relative difference of the tuning budgets of two models in a fair comparison."""


@dataclass(frozen=True)
class TuningEffort:
    """The searches that chose the configuration of a row: configurations tried, epochs and core-hours spent.

    A configuration that several of them tried counts once.
    """

    searches: tuple[str, ...]
    configurations: int
    epochs: int
    core_hours: float


def tuning_effort(trials: Iterable[TrialRecord], searches: Sequence[SearchRecord]) -> TuningEffort | None:
    """Return the effort of the searches whose chosen configuration these trials test; `None` without one."""
    ids = {trial.id for trial in trials}
    chosen = [search for search in searches if ids & set(search.tests)]
    if not chosen:
        return None
    epochs: dict[tuple[str, ...], int] = {}
    seconds: dict[tuple[str, ...], float] = {}
    for search in chosen:
        for trial_ids, count, core_seconds in zip(
            search.configurations, search.epochs, search.core_seconds, strict=True
        ):
            epochs[trial_ids] = max(count, epochs.get(trial_ids, 0))
            seconds[trial_ids] = max(core_seconds, seconds.get(trial_ids, 0.0))
    names = tuple(search.id for search in chosen)
    return TuningEffort(names, len(epochs), sum(epochs.values()), sum(seconds.values()) / 3600)


def unequal_tuning(a: TuningEffort | None, b: TuningEffort | None) -> str:
    """Return a warning where the tuning of two models differs by more than a tenth; empty where it is fair.

    Budgets are compared by the configurations tried and by the epochs spent.
    """
    if a is None and b is None:
        return ""
    if a is None or b is None:
        tuned, other = ("B", "A") if a is None else ("A", "B")
        return f"{tuned} was tuned and {other} was not: tune both under the same budget"
    differs = [
        f"{one} against {other} {unit}"
        for one, other, unit in ((a.configurations, b.configurations, "configurations"), (a.epochs, b.epochs, "epochs"))
        if abs(one - other) > TOLERANCE * max(one, other)
    ]
    return f"the tuning budgets differ by more than a tenth: {', '.join(differs)}" if differs else ""
