"""Small searches: to run, and with made-up scores in a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphtrial.studies.tune_options import TuneOptions
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.trials import Store
from graphtrial.trials.store.searches import SearchRecord, save_search
from graphtrial.trials.trial import TrialSpec
from graphtrial.tuning.declaration import Tuning, declare_searches
from graphtrial.tuning.search import Proposals
from graphtrial.tuning.space_files import read_space
from graphtrial.tuning.subject import Subject

SPACE: dict[str, Any] = {
    "settings": {"layers": [2, 3], "residual": [True, False]},
    "rules": {"optimizer.lr": {"low": 1e-3, "high": 1e-1, "log": True, "points": 3}},
}


def declare(budget: str = "4trials", search: str = "random", epochs: int = 4, **options: Any) -> Tuning:
    """Declare a search over GIN on CSL with Laplacian encodings that runs in seconds."""
    rules = {"stopping.max_epochs": epochs, "schedule": "constant"}
    subject = Subject("csl", "gin", {"width": 8}, "laplacian:4,sign=absolute", rules=rules)
    space = read_space(options.pop("space", SPACE), "small")
    seeds, splits = options.pop("seeds", 1), options.pop("splits", 1)
    return Tuning(subject, space, TuneOptions(budget, search=search, **options), seeds, splits)


def declared(budget: str, search: str = "random", protocol: str | None = None, splits: int = 1) -> list[Tuning]:
    """Return the searches for GIN on CSL, one for each fold under a protocol of nested selection."""
    subject = Subject("csl", "gin", {"width": 8}, "laplacian:4", protocol=protocol)
    return declare_searches(subject, read_space(SPACE, "small"), TuneOptions(budget, search=search), 1, splits)


def record_search(store: Store, tuning: Tuning, scores: Sequence[float | None]) -> SearchRecord:
    """Write a search whose configurations have these validation scores after 3 epochs; without one it is paused."""
    proposals = Proposals(tuning)
    for score in scores:
        proposal = proposals.extend([])
        assert proposal is not None
        for trial in proposal.trials:
            _record(store, trial, {} if score is None else {"train": 90.0, "val": score}, 1 if score is None else 3)
    winner = max(range(len(scores)), key=lambda number: scores[number] or 0.0)
    tests = tuning.test_trials(proposals.history[winner].configuration)
    for trial in tests:
        _record(store, trial, {"train": 90.0, "val": 60.0, "test": 50.0 + trial.split}, 3)
    configurations = tuple(tuple(trial.id for trial in proposal.trials) for proposal in proposals.history)
    epochs = tuple(1 if score is None else 3 for score in scores)
    seconds = tuple(float(10 + number) for number in range(len(scores)))
    ids = tuple(trial.id for trial in tests)
    record = SearchRecord(tuning.id, tuning.to_dict(), configurations, epochs, seconds, winner, ids)
    save_search(store, record)
    return record


def _record(store: Store, trial: TrialSpec, scores: dict[str, float], count: int) -> None:
    epochs = [Epoch(number, 0.1, 1.0, 1.0, 50.0, 1.0) for number in range(1, count + 1)]
    store.start(trial, "accuracy", True, {})
    store.add_epochs(trial.id, epochs)
    if scores:
        store.finish(trial.id, Outcome("done", 100, epochs, scores))
    else:
        store.mark(trial.id, "paused")
