"""A match: one workload, several contestants, rounds in which each runs once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.protocol import Contestant, Repetition, SkipError
from benchmarks.stats import Spread, paired_ratio, spread

OURS = "GraphTrial"
STEADY = 0.85
"""A contestant is warm when a repetition takes at least this share of the time of the one before."""


@dataclass(frozen=True)
class Side:
    """One contestant of a match: which function it runs, with which arguments and environment variables."""

    name: str
    contest: str
    arguments: dict[str, Any] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Match:
    """One workload for several sides; measured seconds times `scale` are seconds of the unit the table shows.

    Each process warms up until its repetitions no longer get faster, `warm_ups` of them at most: the first steps of a
    training are spent on getting memory. The processes live through all rounds. Where their memory together might not
    fit, `one_at_a_time` starts and warms up a fresh process for each side in each round; the sides alternate all the
    same.
    """

    name: str
    sides: tuple[Side, ...]
    rounds: int
    scale: float = 1.0
    one_at_a_time: bool = False
    warm_ups: int = 1


@dataclass
class Result:
    """The repetitions of each side of a match, in the order of rounds, and why a side did not take part."""

    match: Match
    repetitions: dict[str, list[Repetition]] = field(default_factory=dict)
    ready: dict[str, dict[str, Any]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def seconds(self, side: str) -> Spread | None:
        """Return the seconds of one side, in the unit of the table."""
        return spread(self._times(side)).scaled(self.match.scale) if self._times(side) else None

    def ratio(self, side: str, base: str = OURS) -> Spread | None:
        """Return how many times longer than `base` a side took."""
        slow, fast = self._times(side), self._times(base)
        return paired_ratio(slow, fast) if slow and len(slow) == len(fast) else None

    def peak(self, side: str) -> int | None:
        """Return the largest memory of a side's process, in bytes."""
        return max((r.peak for r in self.repetitions.get(side, ())), default=None)

    def growth(self, side: str) -> int | None:
        """Return the peak beyond what the process had after its imports, in bytes."""
        peak = self.peak(side)
        return None if peak is None or side not in self.ready else peak - int(self.ready[side]["baseline"])

    def memory_ratio(self, side: str, base: str = OURS) -> float | None:
        """Return how many times the memory of `base` a side needed at its peak."""
        theirs, ours = self.peak(side), self.peak(base)
        return theirs / ours if theirs and ours else None

    def checksums(self, side: str) -> list[float]:
        """Return what each repetition of a side reported as proof of its work."""
        return [r.checksum for r in self.repetitions.get(side, ())]

    def _times(self, side: str) -> list[float]:
        return [r.seconds for r in self.repetitions.get(side, ())]


def play(match: Match, say: Callable[[str], None] = lambda text: None) -> Result:
    """Run a match; a side that cannot take part is left out with its reason."""
    result = Result(match)
    with _kept_running(match, result) as running:
        for number in range(match.rounds):
            turn = number % max(1, len(match.sides))  # nobody is always first
            for side in (*match.sides[turn:], *match.sides[:turn]):
                if side.name in result.skipped:
                    continue
                try:
                    repetition = _repeat(match, side, running, result)
                except SkipError as error:
                    result.skipped[side.name] = str(error)
                    result.repetitions.pop(side.name, None)
                else:
                    result.repetitions.setdefault(side.name, []).append(repetition)
    times = (f"{side.name} {took.median:.3g} s" for side in match.sides if (took := result.seconds(side.name)))
    skips = (f"{name}: {reason}" for name, reason in result.skipped.items())
    say(f"{match.name}: {', '.join((*times, *skips))}")
    return result


def _repeat(match: Match, side: Side, running: Mapping[str, Contestant], result: Result) -> Repetition:
    if not match.one_at_a_time:
        return running[side.name].run()
    contestant = Contestant(side.contest, side.arguments, side.env)
    try:
        _warm_up(contestant, match.warm_ups)
        result.ready[side.name] = contestant.ready
        return contestant.run()
    finally:
        contestant.close()


def _warm_up(contestant: Contestant, most: int) -> None:
    before = contestant.warm_up()
    for _ in range(most - 1):
        last = contestant.run()
        if last.seconds >= STEADY * before.seconds:
            return
        before = last


@contextmanager
def _kept_running(match: Match, result: Result) -> Iterator[dict[str, Contestant]]:
    running: dict[str, Contestant] = {}
    try:
        if not match.one_at_a_time:
            running.update({s.name: Contestant(s.contest, s.arguments, s.env) for s in match.sides})
            for name, contestant in running.items():
                try:
                    _warm_up(contestant, match.warm_ups)
                    result.ready[name] = contestant.ready
                except SkipError as error:
                    result.skipped[name] = str(error)
        yield running
    finally:
        for contestant in running.values():
            contestant.close()
