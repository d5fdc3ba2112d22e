"""How far a study is in a store, and how long the rest would take here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graphtrial.core.errors import GraphTrialError
from graphtrial.studies.estimate import Timing, hours_left, kept_timing, measured_timing
from graphtrial.studies.plan import PlannedRow, finished, plan
from graphtrial.studies.study import Study
from graphtrial.trials.store import TrialRecord


@dataclass(frozen=True)
class Forecast:
    """A row of a study: how many of its trials have a result, and the hours that the others would take, if known."""

    row: PlannedRow
    done: int
    hours: float | None


def forecast(
    study: Study,
    records: Sequence[TrialRecord],
    *,
    measure: bool = False,
    tell: Callable[[str], None] = lambda words: None,
) -> list[Forecast]:
    """Return how far each row of a study is; with `measure` models that were never timed here are timed first.

    A model that cannot be timed, for want of its data or of memory, stays unknown, and `tell` hears why.
    """
    rows = plan(study)
    known = finished(rows, records)
    made = []
    for row in rows:
        done = known[row.key]
        timing = kept_timing(row) if row.kind.has_epochs else None
        if timing is None and measure and row.kind.has_epochs and not done:
            timing = _measured(row, tell)
        made.append(Forecast(row, len(done), hours_left(row, done, timing)))
    return made


def _measured(row: PlannedRow, tell: Callable[[str], None]) -> Timing | None:
    try:
        made = measured_timing(row)
        tell(f"timed {row.model.name} on {row.dataset}: {made.epoch_seconds:.1f} s per epoch")
        return made
    except GraphTrialError as error:
        tell(f"{row.model.name} on {row.dataset} is not timed: {error}")
        return None
