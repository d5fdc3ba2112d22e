"""Proposals of a search: what they depend on, and that a killed search resumes to the same ones."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.forked import run_forked
from tests.helpers.results import results as stored_results

from graphtrial.core.errors import GraphTrialError
from graphtrial.execution import run_trials
from graphtrial.trials import Store
from graphtrial.tuning.declaration import Tuning
from graphtrial.tuning.results import Result
from graphtrial.tuning.samplers import SAMPLERS
from graphtrial.tuning.search import Proposals, best
from graphtrial.tuning.space import Point
from graphtrial.tuning.tune import Tuned, tune

Declare = Callable[..., Tuning]


def result(score: float | None) -> Result:
    return Result(score, 4, 1.0, 1.0, ("done",), higher_is_better=False)


def proposed(tuning: Tuning, scores: Sequence[float | None]) -> list[Point]:
    """Return the points of a search whose results are these scores."""
    proposals = Proposals(tuning)
    for _ in scores:
        proposals.extend([result(score) for score in scores[: len(proposals.history)]])
    return [proposal.point for proposal in proposals.history]


def scores_of(tuned: Tuned) -> list[tuple[Point, float | None, int]]:
    return [
        (proposal.point, each.score, each.epochs) for proposal, each in zip(tuned.proposals, tuned.results, strict=True)
    ]


SCORES: list[float | None] = [float(number * 7 % 5) for number in range(20)]


@pytest.mark.parametrize("search", SAMPLERS)
def test_proposals_depend_on_the_seed_and_are_distinct(declare: Declare, search: str) -> None:
    first = proposed(declare("12trials", search), SCORES[:10])
    assert first == proposed(declare("10trials", search), SCORES[:10])  # not on the size of the budget
    assert first != proposed(declare("12trials", search, seed=1), SCORES[:10])
    assert len({str(point) for point in first}) == 10


def test_tpe_depends_on_the_visible_results_alone(declare: Declare) -> None:
    tuning = declare("20trials", "tpe", lag=3)
    usual = proposed(tuning, SCORES)
    assert usual == proposed(tuning, [*SCORES[:18], 99.0, -99.0])  # proposal 19 sees the results 0 to 16
    for better in (10, 12):
        visible = proposed(tuning, [-99.0 if number == better else score for number, score in enumerate(SCORES)])
        assert usual[: better + 3] == visible[: better + 3]
        assert usual[better + 3 :] != visible[better + 3 :]


def test_tpe_comes_to_prefer_what_scored_well(declare: Declare) -> None:
    tuning = declare("40trials", "tpe", lag=1, space={"rules": {"optimizer.lr": {"low": 0.001, "high": 1.0}}})
    proposals = Proposals(tuning)
    observed: list[Result] = []
    for _ in range(40):
        proposal = proposals.extend(observed)
        assert proposal is not None
        observed.append(result(abs(proposal.point["optimizer.lr"] - 0.2)))
    late = [abs(proposal.point["optimizer.lr"] - 0.2) for proposal in proposals.history[20:]]
    assert sorted(late)[10] < 0.1  # the median; 0.2 is the probability of that at random


def test_a_grid_is_exhausted(declare: Declare) -> None:
    proposals = Proposals(declare("99trials", "grid"))
    while proposals.extend([]) is not None:
        pass
    assert len(proposals.history) == 2 * 2 * 3
    assert proposals.exhausted


def test_the_best_score_wins_and_the_first_of_equals() -> None:
    assert best([result(None), result(2.0), result(1.0), result(1.0)]) == 2
    higher = [replace(result(score), higher_is_better=True) for score in (1.0, 3.0, 2.0)]
    assert best(higher) == 1
    with pytest.raises(GraphTrialError, match="no configuration of the search has a validation score"):
        best([result(None)])


def test_a_search_trains_without_a_test_score_and_tests_the_winner_once(declare: Declare, store: Store) -> None:
    tuning = declare("3trials", seeds=2)
    tuned = tune(tuning, store, workers=0)
    records = {record.id: record for record in store.trials()}
    searched = {trial.id for proposal in tuned.proposals for trial in proposal.trials}
    assert len(searched) == 3
    assert len(records) == 5
    for trial, record in records.items():
        assert set(record.scores) == ({"train", "val"} if trial in searched else {"train", "val", "test"})
    chosen = tuned.chosen.configuration
    same = tuning.subject.study(chosen, 2, 1).trials()  # the trials of `graphtrial run` with these settings
    assert [record.id for record in tuned.tests] == [trial.id for trial in same]
    seeds = {trial.seed for proposal in tuned.proposals for trial in proposal.trials}
    assert not seeds & {record.spec.seed for record in tuned.tests}
    best_score = max(each.score or 0.0 for each in tuned.results)
    assert tuned.results[tuned.winner].score == best_score


def test_stored_test_scores_stay_invisible(declare: Declare, store: Store, tmp_path: Path) -> None:
    tuning = declare("3trials", "tpe", lag=1)
    undisturbed = tune(tuning, Store(tmp_path / "other" / "s.sqlite"), workers=0)
    for proposal in undisturbed.proposals:  # the same trainings, tested
        run_trials([replace(trial, score_test=True) for trial in proposal.trials], store, workers=0)
    ids = {trial.id for proposal in undisturbed.proposals for trial in proposal.trials}
    assert not ids & {record.id for record in store.trials()}
    assert scores_of(tune(tuning, store, workers=0)) == scores_of(undisturbed)


def test_a_budget_of_epochs_ends_the_search(declare: Declare, store: Store) -> None:
    tuned = tune(declare("12epochs", lag=2), store, workers=0)
    # Four epochs each: number k starts while 0 to k - 2 have spent less than 12.
    assert [each.epochs for each in tuned.results] == [4] * 4


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.helpers.searched import declare
from graphtrial.trials import Store
from graphtrial.tuning.tune import tune
tuning = declare("6trials", sys.argv[2], epochs=6, lag=2)
epochs = []
def count(progress):
    epochs.extend([progress] if progress.event == "epoch" else [])
    if len(epochs) == 9:
        os.kill(os.getpid(), signal.SIGKILL)
tune(tuning, Store(Path(sys.argv[1])), workers=0, listener=count)
"""


@pytest.mark.slow
@pytest.mark.parametrize("search", ["tpe", "halving"])
def test_a_killed_search_resumes_to_the_same_proposals_and_bits(declare: Declare, tmp_path: Path, search: str) -> None:
    tuning = declare("6trials", search, epochs=6, lag=2)
    undisturbed = Store(tmp_path / "undisturbed" / "s.sqlite")
    expected = scores_of(tune(tuning, undisturbed, workers=0))
    path = tmp_path / "killed" / "s.sqlite"
    assert run_forked(KILLED, path, search) == -signal.SIGKILL
    killed = Store(path)
    before = {record.id for record in killed.trials()}
    assert before < {record.id for record in undisturbed.trials()}
    assert scores_of(tune(tuning, killed, workers=0)) == expected
    assert stored_results(killed) == stored_results(undisturbed)


@pytest.mark.slow
def test_processes_give_the_same_search(declare: Declare, tmp_path: Path) -> None:
    tuning = declare("4trials", "halving")
    here, pool = Store(tmp_path / "here.sqlite"), Store(tmp_path / "pool" / "s.sqlite")
    assert scores_of(tune(tuning, here, workers=0)) == scores_of(tune(tuning, pool, workers=2))
    assert stored_results(here) == stored_results(pool)


def test_the_time_of_a_search_is_not_part_of_its_results(declare: Declare, store: Store) -> None:
    start = time.monotonic()
    tuned = tune(declare("1trials"), store, workers=0)
    assert 0 < tuned.results[0].seconds <= time.monotonic() - start
    assert tuned.results[0].core_seconds >= tuned.results[0].seconds


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"budget": "0trials"}, "'0trials' is no tuning budget"),
        ({"budget": "many"}, "'many' is no tuning budget"),
        ({"budget": "1.5trials"}, "no tuning budget"),
        ({"budget": "3trials", "tuning_seeds": 4}, "cannot finish one configuration, which takes 4 trials"),
        ({"budget": "3epochs"}, "cannot finish one configuration: its rules end training after 4 epochs"),
        ({"search": "tpee"}, "Did you mean 'tpe'"),
        ({"tuning_splits": 6}, "has 5 splits, not 6"),
        ({"space": {"settings": {"width": [8, 16]}}}, "every parameter of the space small is given"),
        ({"space": {"settings": {"heads": [2]}}}, "has no setting 'heads'"),
        ({"search": "grid", "space": {"rules": {"optimizer.lr": {"low": 0.1, "high": 0.2}}}}, "number of points"),
        ({"seed": -1}, "seed of the search must be"),
    ],
)
def test_a_search_that_cannot_run_is_refused_before_anything_runs(
    declare: Declare, options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(GraphTrialError, match=reason) as error:
        declare(**options)
    assert "\n" not in str(error.value)


def test_only_tpe_needs_optuna(declare: Declare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(GraphTrialError, match=r"graphtrial\[tune\]"):
        declare(search="tpe")
    declare(search="halving")


def test_hours_that_cannot_finish_one_configuration_are_refused(declare: Declare, store: Store) -> None:
    with pytest.raises(GraphTrialError, match="cannot finish one configuration: 1000 epochs of"):
        tune(declare("0.0000001h", epochs=1000), store, workers=0)
    assert not store.trials()
