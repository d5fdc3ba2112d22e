"""Progress of a whole study in a store, written by any number of processes and machines."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from graphtrial.encodings.notation import short_encoding
from graphtrial.results.live import Running, Snapshot
from graphtrial.studies.plan import PlannedRow, finished, plan, row_key
from graphtrial.studies.study import Study
from graphtrial.trials.durations import Seconds, combined, epoch_range, seconds_of, trial_seconds
from graphtrial.trials.store import Store, TrialRecord


@dataclass(frozen=True)
class RowProgress:
    """A row of a study: numbers of its trials, and the seconds left if its trials ran one after another."""

    dataset: str
    model: str
    encoding: str
    trials: int
    done: int
    running: int
    failed: int
    seconds_left: Seconds | None


@dataclass(frozen=True)
class StudyProgress:
    """A study: its rows, the hosts with running trials, and the seconds left with as many trials at once as now."""

    title: str
    rows: tuple[RowProgress, ...]
    hosts: dict[str, int]
    seconds_left: Seconds | None

    @property
    def trials(self) -> int:
        """Number of trials."""
        return sum(row.trials for row in self.rows)

    @property
    def done(self) -> int:
        """Number of finished trials."""
        return sum(row.done for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the progress as JSON-like values."""
        return {**asdict(self), "trials": self.trials, "done": self.done}


def study_progress(study: Study, store: Store, snapshot: Snapshot) -> StudyProgress:
    """Return the progress of a study; datasets of published sizes are not loaded.

    The seconds of an epoch are those of ended and running trials of the row, else a range around those of all rows.
    """
    rows = plan(study)
    records = store.trials()
    done = finished(rows, records)
    by_id = {one.id: one for one in snapshot.running}
    unfinished: dict[str, list[TrialRecord]] = {row.key: [] for row in rows}
    for record in records:
        if not record.is_finished and (key := row_key(record.spec)) in unfinished:
            unfinished[key].append(record)
    measured = {row.key: _epoch_seconds(done[row.key], unfinished[row.key], by_id) for row in rows}
    anywhere = [seconds for seconds in measured.values() if seconds is not None]
    progress, times, hosts = [], [], dict[str, int]()
    for row in rows:
        running = [by_id[one.id] for one in unfinished[row.key] if one.id in by_id and row.has(one.spec)]
        failed = sum(one.status == "failed" and row.has(one.spec) for one in unfinished[row.key])
        left = _trials_left(row, done[row.key], running, epoch_range(measured[row.key], anywhere))
        times += left
        for one in running:
            hosts[one.host] = hosts.get(one.host, 0) + 1
        progress.append(
            RowProgress(
                row.dataset,
                row.kind.title(row.model.name),
                short_encoding(row.encoding),
                row.trials,
                len(done[row.key]),
                len(running),
                failed,
                combined(left, 1),
            )
        )
    parallel = max(1, sum(hosts.values()))
    return StudyProgress(study.title, tuple(progress), dict(sorted(hosts.items())), combined(times, parallel))


def _trials_left(
    row: PlannedRow, done: Sequence[TrialRecord], running: Sequence[Running], epoch: Seconds | None
) -> list[Seconds | None]:
    """Return the time of each unfinished trial of a row: what is left of running ones, all of the others."""
    waiting = max(0, row.trials - len(done) - len(running))
    if not row.kind.has_epochs:
        lengths = [seconds for one in done if (seconds := seconds_of(one))]
        whole = Seconds(min(lengths), statistics.fmean(lengths), max(lengths)) if lengths else None
        return [whole] * (waiting + len(running))
    ended = [one.epochs for one in done if one.epochs]
    started = [trial_seconds(row.kind, epoch, ended, one.epoch) for one in running]
    return [*started, *[trial_seconds(row.kind, epoch, ended)] * waiting]


def _epoch_seconds(
    done: Sequence[TrialRecord], unfinished: Sequence[TrialRecord], running: Mapping[str, Running]
) -> float | None:
    current = (running[one.id].epoch_seconds for one in unfinished if one.id in running)
    seen = [seconds for seconds in (*(one.epoch_seconds for one in done), *current) if seconds is not None]
    return statistics.fmean(seen) if seen else None
