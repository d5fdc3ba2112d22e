"""Timings of the shipped results, one line per row: `timings.jsonl`, written by `python -m tools.timings`.

The store itself takes seconds to read. All were measured on one core of the same machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from typing import Any

from graphtrial.core.spec import canonical_json
from graphtrial.trials.durations import seconds_of
from graphtrial.trials.environment import BATCHED_TRIALS
from graphtrial.trials.store import TrialRecord

FILE = "timings.jsonl"


@dataclass(frozen=True)
class ShippedTiming:
    """Mean seconds of an epoch and of a trial of one row, its shortest and longest trial, and their epochs.

    `epoch_seconds` is None for trials without epochs.
    """

    dataset: str
    model: str
    arguments: dict[str, Any]
    protocol: str
    encoding: str
    epoch_seconds: float | None
    seconds: float
    shortest: float
    longest: float
    trials: int


@cache
def shipped_timings() -> tuple[ShippedTiming, ...]:
    """Return the timings of all shipped rows."""
    text = resources.files("graphtrial.shipped").joinpath(FILE).read_text(encoding="utf-8")
    return tuple(ShippedTiming(**json.loads(line)) for line in text.splitlines())


def timings_of(records: Iterable[TrialRecord]) -> list[ShippedTiming]:
    """Return the timings of the rows of finished trials that computed alone, rounded to three digits."""
    rows: dict[str, list[TrialRecord]] = {}
    for record in records:
        if record.is_finished and seconds_of(record) > 0 and BATCHED_TRIALS not in record.environment:
            rows.setdefault(_key(record), []).append(record)
    return [_timing(rows[key]) for key in sorted(rows)]


def to_line(timing: ShippedTiming) -> str:
    """Format a timing as a line of the file."""
    return canonical_json(asdict(timing))


def _timing(trials: list[TrialRecord]) -> ShippedTiming:
    spec, seconds = trials[0].spec, [seconds_of(one) for one in trials]
    epochs = [one.epoch_seconds for one in trials if one.epoch_seconds]
    return ShippedTiming(
        dataset=spec.dataset,
        model=spec.model.name,
        arguments=dict(spec.model.arguments),
        protocol=spec.protocol,
        encoding=str(spec.encoding or "none"),
        epoch_seconds=_rounded(sum(epochs) / len(epochs)) if epochs else None,
        seconds=_rounded(sum(seconds) / len(seconds)),
        shortest=_rounded(min(seconds)),
        longest=_rounded(max(seconds)),
        trials=len(trials),
    )


def _key(record: TrialRecord) -> str:
    spec = record.spec
    return canonical_json(
        [spec.dataset, spec.model.name, spec.model.arguments, spec.protocol, str(spec.encoding), spec.rules.to_dict()]
    )


def _rounded(seconds: float) -> float:
    return float(f"{seconds:.3g}")
