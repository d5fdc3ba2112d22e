"""Which scores are no better than guessing."""

from __future__ import annotations

from graphtrial.datasets.base import known_dataset
from graphtrial.results.rows import ResultRow


def chance_of(row: ResultRow) -> float | None:
    """Return the score of guessing on the dataset of a row, or none where it is not known.

    It is the task's: one class in all of them, or half the area under a curve. Where classes differ in size a constant
    guess scores more, which the declared facts of a dataset do not tell; then this is a lower bound.
    """
    spec = known_dataset(row.first.spec.dataset)
    if spec is None or spec.task is None or spec.task.metric != row.first.metric:
        return None
    return spec.task.chance()


def is_at_chance(row: ResultRow) -> bool:
    """Tell whether the test score is known to be no better than guessing: chance is in its interval, or beyond it."""
    chance, test = chance_of(row), row.scores("test")
    if chance is None or test is None:
        return False
    if row.first.higher_is_better:
        return (test.mean if test.low is None else test.low) <= chance
    return (test.mean if test.high is None else test.high) >= chance
