"""Successive halving: its rungs, and that no epoch is trained twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.execution import Progress
from graphtrial.trials import Store
from graphtrial.tuning.declaration import Tuning
from graphtrial.tuning.halving import Rung, bracket_size, cost, rungs
from graphtrial.tuning.tune import tune

Declare = Callable[..., Tuning]


@pytest.mark.parametrize(
    ("configurations", "epochs", "expected"),
    [
        (9, 9, [Rung(9, 1), Rung(3, 3), Rung(1, None)]),
        (27, 100, [Rung(27, 4), Rung(9, 12), Rung(3, 34), Rung(1, None)]),
        (20, 100, [Rung(20, 12), Rung(6, 34), Rung(2, None)]),
        (9, 2, [Rung(9, None)]),
        (2, 100, [Rung(2, None)]),
        (1, 1, [Rung(1, None)]),
    ],
)
def test_each_rung_has_a_third_of_the_configurations_for_three_times_as_long(
    configurations: int, epochs: int, expected: list[Rung]
) -> None:
    assert rungs(configurations, epochs, 3) == expected


def test_the_cost_of_a_bracket() -> None:
    assert cost(rungs(9, 9, 3), 9) == 9 * 1 + 3 * 2 + 1 * 6
    assert cost(rungs(27, 81, 3), 81) < 27 * 81 / 3


def test_the_largest_bracket_within_a_budget_of_epochs(declare: Declare) -> None:
    tuning = declare("21epochs", "halving", epochs=9)
    assert bracket_size(tuning) == 9
    assert bracket_size(declare("20epochs", "halving", epochs=9)) == 4  # 5 to 8 have no third rung
    with pytest.raises(GraphTrialError, match="cannot finish one configuration"):
        declare("8epochs", "halving", epochs=9)
    assert bracket_size(declare("60trials", "halving", tuning_seeds=2)) == 30


def test_promoted_trials_resume_and_no_epoch_is_trained_twice(declare: Declare, store: Store, tmp_path: Path) -> None:
    tuning = declare("9trials", "halving", epochs=9)
    received: list[Progress] = []
    tuned = tune(tuning, store, workers=0, listener=received.append)
    searched = {trial.id: proposal.number for proposal in tuned.proposals for trial in proposal.trials}
    epochs = [
        (searched[each.trial.id], each.epoch)
        for each in received
        if each.event == "epoch" and each.trial.id in searched
    ]
    assert len(epochs) == len(set(epochs)) == 21
    assert sorted(Counter(number for number, _ in epochs).values()) == [1] * 6 + [3] * 2 + [9]
    statuses = Counter(record.status for record in store.trials(searched))
    assert statuses == {"paused": 8, "done": 1}
    assert [each.score is not None for each in tuned.results].count(True) == 1
    # The promoted ones have the bits of an undisturbed training, of a random search with the same proposals.
    full = Store(tmp_path / "full" / "s.sqlite")
    random = tune(declare("9trials", "random", epochs=9), full, workers=0)
    assert [proposal.point for proposal in random.proposals] == [proposal.point for proposal in tuned.proposals]
    for record in store.trials(searched):
        history = full.history(record.id)
        mine = store.history(record.id)
        assert [(e.train_loss, e.val_loss) for e in mine] == [(e.train_loss, e.val_loss) for e in history[: len(mine)]]
    # Each rung keeps the best by the validation score after its epochs.
    at_1 = {proposal.number: full.history(proposal.trials[0].id)[0].val_score for proposal in random.proposals}
    promoted = {number for number, epoch in epochs if epoch == 3}
    assert min(at_1[number] for number in promoted) >= max(at_1[number] for number in at_1 if number not in promoted)


def test_what_another_search_has_trained_stays_invisible(declare: Declare, store: Store, tmp_path: Path) -> None:
    tuning = declare("9trials", "halving", epochs=9)
    alone = tune(tuning, Store(tmp_path / "alone" / "s.sqlite"), workers=0)
    tune(declare("9trials", "random", epochs=9), store, workers=0)
    beside = tune(tuning, store, workers=0)
    assert [(each.score, each.epochs, each.statuses) for each in beside.results] == [
        (each.score, each.epochs, each.statuses) for each in alone.results
    ]
    assert beside.winner == alone.winner
