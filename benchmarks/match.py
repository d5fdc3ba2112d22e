"""A match: one workload, several contestants, interleaved rounds in which each runs once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.protocol import Contestant, Repetition, SkipError
from benchmarks.stats import Summary, paired_ratios, summarize

OURS = "GraphTrial"
STEADY = 0.85
"""Warm-up ends when a repetition takes at least this fraction of the time of the previous one."""


@dataclass(frozen=True)
class Side:
    """Contestant of a match: function (`module:name`), arguments and environment variables."""

    name: str
    contest: str
    arguments: dict[str, Any] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Match:
    """One workload for several contestants; tables show measured seconds times `scale`.

    Each process warms up until its repetitions no longer get faster, at most `warm_ups` times: the first steps of a
    training allocate memory. The processes live through all rounds. With `one_at_a_time`, for workloads that need too
    much memory for concurrent processes, each repetition starts and warms up a fresh process.
    """

    name: str
    sides: tuple[Side, ...]
    rounds: int
    scale: float = 1.0
    one_at_a_time: bool = False
    warm_ups: int = 1


@dataclass
class Result:
    """Repetitions of each contestant in the order of rounds, and the reasons of skipped ones."""

    match: Match
    repetitions: dict[str, list[Repetition]] = field(default_factory=dict)
    ready: dict[str, dict[str, Any]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def seconds(self, side: str) -> Summary | None:
        """Return the scaled seconds of one contestant."""
        return summarize(self._times(side)).scaled(self.match.scale) if self._times(side) else None

    def ratio(self, side: str, base: str = OURS) -> Summary | None:
        """Return the ratio of times of a contestant and `base`, paired by round."""
        slow, fast = self._times(side), self._times(base)
        return paired_ratios(slow, fast) if slow and len(slow) == len(fast) else None

    def peak(self, side: str) -> int | None:
        """Return the peak memory of a contestant, in bytes."""
        return max((r.peak for r in self.repetitions.get(side, ())), default=None)

    def growth(self, side: str) -> int | None:
        """Return the peak memory beyond that after imports, in bytes."""
        peak = self.peak(side)
        return None if peak is None or side not in self.ready else peak - int(self.ready[side]["baseline"])

    def memory_ratio(self, side: str, base: str = OURS) -> float | None:
        """Return the ratio of peak memory of a contestant and `base`."""
        theirs, ours = self.peak(side), self.peak(base)
        return theirs / ours if theirs and ours else None

    def checksums(self, side: str) -> list[float]:
        """Return the checksum of each repetition of a contestant."""
        return [r.checksum for r in self.repetitions.get(side, ())]

    def _times(self, side: str) -> list[float]:
        return [r.seconds for r in self.repetitions.get(side, ())]


def play(match: Match, say: Callable[[str], None] = lambda text: None) -> Result:
    """Run a match; contestants that raise `SkipError` are recorded with the reason."""
    result = Result(match)
    with _running(match, result) as running:
        for number in range(match.rounds):
            turn = number % max(1, len(match.sides))  # rotate the order
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


def _warm_up(contestant: Contestant, limit: int) -> None:
    previous = contestant.warm_up()
    for _ in range(limit - 1):
        repetition = contestant.run()
        if repetition.seconds >= STEADY * previous.seconds:
            return
        previous = repetition


@contextmanager
def _running(match: Match, result: Result) -> Iterator[dict[str, Contestant]]:
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
