"""Scores at chance level."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from graphtrial.results.export import export
from graphtrial.results.export.tables import dense_ranks
from graphtrial.results.grouping import result_rows
from graphtrial.results.rows import ResultRow
from graphtrial.results.statistics.chance import chance_of, is_at_chance
from graphtrial.trials import Store

Filler = Callable[..., Any]


@pytest.fixture
def row(results: Store, fill: Filler) -> Callable[..., ResultRow]:
    def row(scores: list[float], dataset: str = "csl", metric: str = "accuracy") -> ResultRow:
        fill("gcn", scores, dataset=dataset)
        trials = [dataclasses.replace(trial, metric=metric) for trial in results.trials()]
        (actual,) = result_rows(trials)
        return actual

    return row


@pytest.mark.parametrize(
    ("dataset", "metric", "chance"),
    [
        ("csl", "accuracy", 10.0),
        ("csl", "MAE", None),
        ("zinc", "MAE", None),
        ("cora+links", "ROC-AUC", 0.5),
        ("tsp", "F1", None),
        ("pattern", "weighted accuracy", 50.0),
        ("enzymes", "accuracy", 100 / 6),
        ("nobody-knows-this", "accuracy", None),
    ],
)
def test_chance_level_of_the_task(
    row: Callable[..., ResultRow], dataset: str, metric: str, chance: float | None
) -> None:
    assert chance_of(row([0.4, 0.5], dataset, metric)) == pytest.approx(chance)


@pytest.mark.parametrize(
    ("scores", "at_chance"), [([10.0, 10.0], True), ([9.0], True), ([12.0, 9.0], True), ([40.0, 40.5], False)]
)
def test_score_is_at_chance_if_the_interval_includes_it(
    row: Callable[..., ResultRow], scores: list[float], at_chance: bool
) -> None:
    assert is_at_chance(row(scores)) == at_chance


def test_chance_level_is_neither_best_nor_second(results: Store, fill: Filler) -> None:
    fill("gcn", [10.0, 10.0])
    fill("gin", [60.0, 60.5])
    rows = result_rows(results.trials())
    assert dense_ranks(rows) == [None, 1]
    text = export(rows, "latex")
    assert r"\textbf{60.250" in text
    assert r"\underline" not in text.replace("underlined", "")
