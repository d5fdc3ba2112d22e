"""Durations of trials as ranges: how long one takes, and how long several take in parallel."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphtrial.trials.kinds import TrialKind
from graphtrial.trials.store import TrialRecord

SAME = 1.15
"""Ends of a range within this ratio are shown as one number."""


UNSEEN = 3.0
"""Ratio by which an epoch of a row that was not seen yet may be faster or slower than those of the others."""


@dataclass(frozen=True)
class Seconds:
    """Range of a duration in seconds with the expected value."""

    low: float
    expected: float
    high: float

    def __add__(self, other: Seconds) -> Seconds:
        return Seconds(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def scaled(self, factor: float) -> Seconds:
        """Return the range multiplied by a factor."""
        return Seconds(self.low * factor, self.expected * factor, self.high * factor)

    @property
    def is_narrow(self) -> bool:
        """Whether the ends of the range are about equal."""
        return self.high <= SAME * max(self.low, 1.0)


def seconds_of(record: TrialRecord) -> float:
    """Return the seconds that a finished trial took, training and validation; 0 where they are not known."""
    seconds = record.details.get("seconds", (record.epochs or 0) * (record.epoch_seconds or 0.0))
    return float(seconds)


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
