"""Estimated time left of running trials, as a range, from the epochs seen so far.

Trials of a row have the same model, data and rules, hence about the same seconds per epoch; how many epochs they take
is known only within bounds until some of them have ended.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphtrial.core.spec import canonical_json
from graphtrial.execution.progress import Progress
from graphtrial.trials.kinds import TrialKind
from graphtrial.trials.store import TrialRecord
from graphtrial.trials.trial import TrialSpec

SAME = 1.15
"""Ends of a range within this ratio are shown as one number."""


UNSEEN = 3.0
"""Ratio by which an epoch of a row that was not seen yet may be faster or slower than those of the others."""
_SPREAD: tuple[Callable[[Sequence[float]], float], ...] = (min, statistics.fmean, max)


@dataclass(frozen=True)
class Seconds:
    """Range of a duration in seconds with the expected value."""

    low: float
    expected: float
    high: float

    def __add__(self, other: Seconds) -> Seconds:
        return Seconds(self.low + other.low, self.expected + other.expected, self.high + other.high)

    @property
    def is_narrow(self) -> bool:
        """Whether the ends of the range are about equal."""
        return self.high <= SAME * max(self.low, 1.0)


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
            return Seconds(*(max(0.0, of(row.seconds) - elapsed) for of in _SPREAD)) if row.seconds else None
        others = [one.epoch_seconds for one in self.rows.values() if one.epoch_seconds is not None]
        return trial_seconds(trial.kind, epoch_range(row.epoch_seconds, others), row.epochs, run.epoch if run else 0)

    def _row(self, trial: TrialSpec) -> _Row:
        if trial.id not in self._keys:
            self._keys[trial.id] = canonical_json(trial.row)
        return self.rows.setdefault(self._keys[trial.id], _Row())


def epoch_range(own: float | None, others: Sequence[float]) -> Seconds | None:
    """Return the seconds of an epoch of a row: measured, else around those of the other rows of the study."""
    if own is not None:
        return Seconds(own, own, own)
    return Seconds(min(others) / UNSEEN, statistics.fmean(others), max(others) * UNSEEN) if others else None


def trial_seconds(kind: TrialKind[Any], epoch: Seconds | None, ended: Sequence[int], done: int = 0) -> Seconds | None:
    """Return the time left of a trial after `done` epochs of so many seconds, within the time limit of its kind.

    `ended` are the lengths in epochs of ended trials of the same row; without, the rules bound the number of epochs.
    """
    if epoch is None:
        return None
    limit = 3600 * kind.max_hours
    low, expected, high = _epochs_left(kind, ended, done)
    return Seconds(*(min(one, limit) for one in (low * epoch.low, expected * epoch.expected, high * epoch.high)))


def combined(trials: Sequence[Seconds | None], parallel: int) -> Seconds | None:
    """Return the wall-clock time of trials of which `parallel` run at a time; an unknown one may take as long as any.

    With T the time of all trials and t that of the longest, p at a time take between max(T / p, t) and
    T / p + (1 - 1 / p) t, whatever their order (Graham 1966).
    """
    durations = [seconds for seconds in trials if seconds is not None]
    if not durations:
        return None if trials else Seconds(0.0, 0.0, 0.0)
    unknown = Seconds(
        min(one.low for one in durations),
        statistics.fmean(one.expected for one in durations),
        max(one.high for one in durations),
    )
    durations += [unknown] * (len(trials) - len(durations))
    total, slots = sum(durations[1:], durations[0]), max(1, min(parallel, len(durations)))
    return Seconds(
        max(total.low / slots, max(one.low for one in durations)),
        max(total.expected / slots, max(one.expected for one in durations)),
        total.high / slots + (1 - 1 / slots) * max(one.high for one in durations),
    )


def _epochs_left(kind: TrialKind[Any], ended: Sequence[int], done: int) -> tuple[float, float, float]:
    """Return the least, expected and largest number of epochs left: by ended trials of the row, else by the rules."""
    least, most = kind.least_epochs or 1, kind.most_epochs or math.inf
    expected: float = kind.expected_epochs or least
    if ended:
        widening = 2 if len(ended) == 1 else 1  # one trial says little about the spread of the next
        least = max(least, min(ended) // widening)
        most = min(most, max(ended) * widening)
        expected = statistics.fmean(ended)
    low = max(least - done, 1)  # a trial that has not ended has at least one more epoch
    middle = max(expected - done, low)
    return low, middle, max(most - done, middle)
