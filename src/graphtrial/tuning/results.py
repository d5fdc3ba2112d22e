"""Results of the configurations of a search, read from the store: validation scores and what they cost."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from graphtrial.training.outcome import Epoch
from graphtrial.trials.store import Store, TrialRecord
from graphtrial.trials.trial import TrialSpec
from graphtrial.tuning.space import Point
from graphtrial.tuning.subject import Configuration


@dataclass(frozen=True)
class Proposal:
    """A configuration of a search: its number, point and trials."""

    number: int
    point: Point
    configuration: Configuration
    trials: tuple[TrialSpec, ...]


@dataclass(frozen=True)
class Result:
    """The result of a proposal.

    `score` is the mean validation score over its trials, `None` where one of them has none; `epochs` and `seconds` are
    sums over its trials, `core_seconds` counts the threads of each.
    """

    score: float | None
    epochs: int
    seconds: float
    core_seconds: float
    statuses: tuple[str, ...]
    higher_is_better: bool

    @property
    def loss(self) -> float:
        """The score as a number to minimize; infinite without one."""
        if self.score is None:
            return math.inf
        return -self.score if self.higher_is_better else self.score


def read_results(store: Store, proposals: Sequence[Proposal], epochs: int | None = None) -> list[Result]:
    """Return the results of proposals; with `epochs`, those that they had after so many epochs.

    Later epochs, which another search may have trained, stay invisible. Trials of a search have no test score.
    """
    ids = [trial.id for proposal in proposals for trial in proposal.trials]
    records = {record.id: record for record in store.trials(ids)}
    return [
        _result([records[trial.id] for trial in proposal.trials if trial.id in records], proposal, store, epochs)
        for proposal in proposals
    ]


def _result(records: Sequence[TrialRecord], proposal: Proposal, store: Store, limit: int | None) -> Result:
    histories = [store.history(record.id)[:limit] for record in records]
    scores = [
        (record.scores.get("val") if record.is_finished else None)
        if limit is None
        else _score_at(record, history, limit)
        for record, history in zip(records, histories, strict=True)
    ]
    present = [score for score in scores if score is not None]
    complete = len(present) == len(proposal.trials)
    seconds = [sum(epoch.seconds for epoch in history) for history in histories]
    threads = [int(record.environment.get("threads", 1)) for record in records]
    return Result(
        score=statistics.fmean(present) if complete else None,
        epochs=sum(map(len, histories)),
        seconds=sum(seconds),
        core_seconds=sum(one * count for one, count in zip(seconds, threads, strict=True)),
        statuses=tuple(record.status for record in records),
        higher_is_better=bool(records) and records[0].higher_is_better,
    )


def _score_at(record: TrialRecord, history: Sequence[Epoch], epochs: int) -> float | None:
    """Return the validation score of the weights that would be evaluated after these epochs."""
    ended = len(history) < epochs  # before the rung
    if ended and record.status not in ("done", "time"):
        return None
    return record.spec.kind.val_score(history, record.higher_is_better)
