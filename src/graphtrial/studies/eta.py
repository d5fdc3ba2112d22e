"""Progress of a study in a store, and the estimated time of its missing trials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graphtrial.core.errors import GraphTrialError
from graphtrial.studies.estimate import Estimate, Timing, cached_timing, measure_timing, time_left
from graphtrial.studies.plan import PlannedRow, finished, plan
from graphtrial.studies.study import Study
from graphtrial.trials.store import TrialRecord


@dataclass(frozen=True)
class RowEta:
    """A row of a study: the number of finished trials, and the estimated time of the others, if known."""

    row: PlannedRow
    done: int
    left: Estimate | None


def study_eta(
    study: Study,
    records: Sequence[TrialRecord],
    *,
    measure: bool = False,
    factor: float | None = None,
    report: Callable[[str], None] = lambda message: None,
) -> list[RowEta]:
    """Return finished trials and estimated time of each row; with `measure`, models without a timing are timed first.

    `factor` is the slowness of this machine (`calibration`), by which shipped timings are multiplied.
    A model that cannot be timed, such as on missing data, has no estimate; `report` is called with the reason.
    """
    rows = plan(study)
    done = finished(rows, records)
    etas = []
    for row in rows:
        timing = cached_timing(row) if row.kind.has_epochs else None
        if timing is None and measure and row.kind.has_epochs and not done[row.key]:
            timing = _try_measuring(row, report)
        etas.append(RowEta(row, len(done[row.key]), time_left(row, done[row.key], timing, factor)))
    return etas


def _try_measuring(row: PlannedRow, report: Callable[[str], None]) -> Timing | None:
    try:
        timing = measure_timing(row)
        report(f"timed {row.model.name} on {row.dataset}: {timing.epoch_seconds:.1f} s per epoch")
        return timing
    except GraphTrialError as error:
        report(f"{row.model.name} on {row.dataset} is not timed: {error}")
        return None
