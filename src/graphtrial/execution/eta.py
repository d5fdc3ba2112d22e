"""Estimated time left of running trials, as a range, from the epochs seen so far.

Trials of a row have the same model, data and rules, hence about the same seconds per epoch; how many epochs they take
is known only within bounds until some of them have ended.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from graphtrial.core.spec import canonical_json
from graphtrial.execution.progress import Progress
from graphtrial.trials.durations import Seconds, combined, epoch_range, trial_seconds
from graphtrial.trials.store import TrialRecord
from graphtrial.trials.trial import TrialSpec


@dataclass
class _Run:
    """A running trial: its last epoch, the time of the last event, seconds of its first and of its other epochs."""

    since: float
    started: float
    epoch: int = 0
    first: float | None = None
    others: list[float] = field(default_factory=list)


@dataclass
class _Row:
    """What was seen of the trials of one row: lengths of ended ones in epochs and seconds, seconds of epochs."""

    epochs: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    first_epochs: list[float] = field(default_factory=list)
    other_epochs: list[float] = field(default_factory=list)

    @property
    def epoch_seconds(self) -> float | None:
        """Mean seconds of an epoch; the first of a trial includes its start and counts only if there are no others."""
        seen = self.other_epochs or self.first_epochs
        return statistics.fmean(seen) if seen else None


class RemainingTime:
    """Time left of `trials`, as many at a time as were seen to run at once; a listener of their progress.

    `records` are earlier results, whose lengths count as seen.
    """

    def __init__(
        self,
        trials: Iterable[TrialSpec],
        records: Iterable[TrialRecord] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.waiting = {trial.id: trial for trial in trials}
        self.parallel = 1
        self.clock = clock
        self.running: dict[str, _Run] = {}
        self.rows: dict[str, _Row] = {}
        self._keys: dict[str, str] = {}
        for record in records:
            if not record.is_finished:
                continue
            self.waiting.pop(record.id, None)
            if record.epochs and record.epoch_seconds:
                row = self._row(record.spec)
                row.epochs.append(record.epochs)
                row.seconds.append(record.epochs * record.epoch_seconds)
                row.other_epochs.append(record.epoch_seconds)

    def __call__(self, progress: Progress) -> None:
        now, trial = self.clock(), progress.trial
        run = self.running.setdefault(trial.id, _Run(now, now))
        self.parallel = max(self.parallel, len(self.running))
        row = self._row(trial)
        if progress.event == "epoch":
            (row.other_epochs if run.first is not None else row.first_epochs).append(now - run.since)
            run.first = now - run.since if run.first is None else run.first
            run.since, run.epoch = now, progress.epoch
        elif progress.event == "end":
            self.waiting.pop(trial.id, None)
            del self.running[trial.id]
            row.seconds.append(now - run.started)
            if run.epoch:
                row.epochs.append(run.epoch)

    def left(self) -> Seconds | None:
        """Return the wall-clock time until all trials have ended, None before the first epoch or end of one."""
        return combined([self._trial(trial) for trial in self.waiting.values()], self.parallel)

    def _trial(self, trial: TrialSpec) -> Seconds | None:
        """Return the time left of one trial; None if nothing was seen of its row, nor an epoch of any other one."""
        row, run = self._row(trial), self.running.get(trial.id)
        if not trial.kind.has_epochs:
            elapsed = self.clock() - run.started if run else 0.0
            spread = (min(row.seconds), statistics.fmean(row.seconds), max(row.seconds)) if row.seconds else ()
            return Seconds(*(max(0.0, seconds - elapsed) for seconds in spread)) if spread else None
        others = [one.epoch_seconds for one in self.rows.values() if one.epoch_seconds is not None]
        return trial_seconds(trial.kind, epoch_range(row.epoch_seconds, others), row.epochs, run.epoch if run else 0)

    def _row(self, trial: TrialSpec) -> _Row:
        if trial.id not in self._keys:
            self._keys[trial.id] = canonical_json(trial.row)
        return self.rows.setdefault(self._keys[trial.id], _Row())
