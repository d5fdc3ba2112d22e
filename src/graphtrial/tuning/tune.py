"""Tune a model under a budget, and test the chosen configuration once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.hardware.compute import AUTOMATIC, Compute
from graphtrial.execution.executor import Executor, Listener, run_trials, session
from graphtrial.studies.estimate import cached_timing, measure_timing
from graphtrial.studies.plan import expand
from graphtrial.trials.store import Store, TrialRecord
from graphtrial.trials.store.searches import SearchRecord, save_search
from graphtrial.trials.trial import TrialSpec
from graphtrial.tuning.declaration import Tuning
from graphtrial.tuning.halving import halve
from graphtrial.tuning.results import Proposal, Result
from graphtrial.tuning.search import Proposals, best, search


@dataclass(frozen=True)
class Tuned:
    """A finished search: proposals with their results, the number of the chosen one, and the trials that test it."""

    tuning: Tuning
    proposals: tuple[Proposal, ...]
    results: tuple[Result, ...]
    winner: int
    tests: tuple[TrialRecord, ...]

    @property
    def chosen(self) -> Proposal:
        """The proposal with the best validation score."""
        return self.proposals[self.winner]

    def to_dict(self) -> dict[str, Any]:
        """Return the search as JSON-like values: declaration, configurations with scores and cost, the chosen one."""
        return {
            "id": self.tuning.id,
            **self.tuning.to_dict(),
            "winner": self.winner,
            "configurations": [
                {
                    "point": proposal.point,
                    "settings": proposal.configuration.settings,
                    "encoding": proposal.configuration.encoding,
                    "rules": proposal.configuration.rules,
                    "val": result.score,
                    "epochs": result.epochs,
                    "core_hours": result.core_seconds / 3600,
                    "statuses": list(result.statuses),
                    "trials": [trial.id for trial in proposal.trials],
                }
                for proposal, result in zip(self.proposals, self.results, strict=True)
            ],
        }


def tune(
    tuning: Tuning,
    store: Store,
    *,
    workers: int | None = None,
    listener: Listener = lambda progress: None,
    executor: Executor | None = None,
    compute: Compute = AUTOMATIC,
) -> Tuned:
    """Search, choose by the validation score, test the chosen configuration with the seeds of the protocol.

    Trials that have a result are not run again, so that a killed search resumes: its proposals are recomputed from
    the results in the store. The test part is scored for the chosen configuration alone.
    """

    def run(trials: Sequence[TrialSpec], pause_at: int | None) -> None:
        paused = replace(compute, pause_at=pause_at)
        run_trials(trials, store, workers=workers, listener=listener, executor=executor, compute=paused)

    _check_hours(tuning)
    with session(executor):
        proposals, results = (halve if tuning.is_halving else search)(tuning, store, run)
        winner = best(results)
        tests = tuning.test_trials(proposals[winner].configuration)
        run(tests, None)
    ids = tuple(trial.id for trial in tests)
    configurations = tuple(tuple(trial.id for trial in proposal.trials) for proposal in proposals)
    spent = (tuple(one.epochs for one in results), tuple(float(one.core_seconds) for one in results))
    save_search(store, SearchRecord(tuning.id, tuning.to_dict(), configurations, *spent, winner, ids))
    order = {trial: position for position, trial in enumerate(ids)}
    records = sorted(store.trials(ids), key=lambda record: order[record.id])
    return Tuned(tuning, tuple(proposals), tuple(results), winner, tuple(records))


def _check_hours(tuning: Tuning) -> None:
    """Raise an error where a few measured batches show that the hours cannot finish one configuration."""
    if tuning.budget.unit != "hours":
        return
    first = Proposals(tuning).extend([])
    if first is None:
        return
    study = tuning.subject.study(first.configuration, tuning.seeds_of_search, tuning.options.tuning_splits)
    (row,) = expand(study, lambda name: tuning.subject.data)
    timing = cached_timing(row) or measure_timing(row)
    hours = timing.epoch_seconds * tuning.least_epochs / 3600
    if hours > tuning.budget.amount:
        raise GraphTrialError(
            f"a budget of {tuning.budget} cannot finish one configuration: {tuning.least_epochs} epochs of "
            f"{timing.epoch_seconds:.2g} s take {hours:.2g} hours"
        )
