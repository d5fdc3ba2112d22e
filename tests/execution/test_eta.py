"""The time left is a range that contains the truth, from the first epoch on."""

from __future__ import annotations

import pytest

from graphtrial.cli.progress import format_left
from graphtrial.execution.eta import RemainingTime
from graphtrial.execution.progress import Progress
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials.durations import Seconds
from graphtrial.trials.trial import TrialSpec


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def trials(*, models: tuple[str, ...] = ("gcn",), splits: int = 4, **rules: object) -> list[TrialSpec]:
    entries = tuple(ModelEntry(name, {"width": 8, "layers": 2}) for name in models)
    return Study("s", "csl", entries, seeds=1, splits=splits, rules=rules).trials()


def play(eta: RemainingTime, clock: Clock, trial: TrialSpec, seconds: float, epochs: int, *, end: bool = True) -> None:
    """Run a trial for some epochs, in sequence."""
    eta(Progress(trial, "start"))
    for epoch in range(1, epochs + 1):
        clock.now += seconds
        eta(Progress(trial, "epoch", epoch))
    if end:
        eta(Progress(trial, "end"))


def test_fixed_number_of_epochs_gives_one_number_after_the_first_epoch() -> None:
    clock, some = Clock(), trials(**{"stopping.max_epochs": 10})
    eta = RemainingTime(some, clock=clock)
    assert eta.left() is None
    play(eta, clock, some[0], 2.0, 1, end=False)
    left = eta.left()
    assert left is not None
    assert left == Seconds(78.0, 78.0, 78.0)  # 9 epochs, then 3 trials of 10
    assert format_left(left) == "1 min 18 s left"


def test_range_contains_trials_of_unequal_length() -> None:
    clock, some = Clock(), trials(splits=5)
    eta = RemainingTime(some, clock=clock)
    play(eta, clock, some[0], 1.0, 3, end=False)
    by_rules = eta.left()
    assert by_rules is not None
    lengths = [60, 90, 150, 40, 120]
    assert by_rules.low <= sum(lengths) - 3 <= by_rules.high
    assert " to " in format_left(by_rules)
    clock = Clock()
    eta = RemainingTime(some, clock=clock)
    for done, (trial, length) in enumerate(zip(some[:-1], lengths, strict=False), start=1):
        play(eta, clock, trial, 1.0, length)
        left = eta.left()
        assert left is not None
        if done >= 3:
            assert left.low <= sum(lengths[done:]) <= left.high
    assert left.expected == pytest.approx(sum(lengths[:4]) / 4)


def test_rows_not_yet_seen_widen_the_range() -> None:
    clock, some = Clock(), trials(models=("gcn", "gin", "mlp"), splits=1, **{"stopping.max_epochs": 10})
    eta = RemainingTime(some, clock=clock)
    play(eta, clock, some[0], 1.0, 10)
    play(eta, clock, some[1], 4.0, 10)
    assert eta.left() == Seconds(pytest.approx(10 / 3), 25.0, 120.0)


def test_parallel_trials_share_the_time() -> None:
    clock, some = Clock(), trials(**{"stopping.max_epochs": 10})
    eta = RemainingTime(some, clock=clock)
    for trial in some[:2]:
        eta(Progress(trial, "start"))
    clock.now = 3.0
    for trial in some[:2]:
        eta(Progress(trial, "epoch", 1))
    left = eta.left()
    assert left is not None
    assert left.low == pytest.approx((27 + 27 + 30 + 30) / 2)
    assert left.high == pytest.approx(57 + 15)


def test_ended_trials_leave_nothing() -> None:
    clock, some = Clock(), trials(splits=1, **{"stopping.max_epochs": 2})
    eta = RemainingTime(some, clock=clock)
    play(eta, clock, some[0], 1.0, 2)
    assert eta.left() == Seconds(0.0, 0.0, 0.0)
