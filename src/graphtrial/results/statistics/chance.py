"""Chance level of a metric, and scores that do not exceed it."""

from __future__ import annotations

from graphtrial.datasets.base import lookup_dataset
from graphtrial.results.rows import ResultRow


def chance_of(row: ResultRow) -> float | None:
    """Return the chance level of the task of a row, or none where it is undefined.

    1 / classes for accuracy, 0.5 for ROC-AUC. Of imbalanced classes the majority-class baseline scores higher; then
    this is a lower bound.
    """
    spec = lookup_dataset(row.first.spec.dataset)
    if spec is None or spec.task is None or spec.task.metric.title != row.first.metric:
        return None
    return spec.task.chance()


def is_at_chance(row: ResultRow) -> bool:
    """Whether the confidence interval of the test score does not exceed the chance level."""
    chance, test = chance_of(row), row.scores("test")
    if chance is None or test is None:
        return False
    if row.first.higher_is_better:
        return (test.mean if test.ci_low is None else test.ci_low) <= chance
    return (test.mean if test.ci_high is None else test.ci_high) >= chance
