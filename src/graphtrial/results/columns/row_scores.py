"""Columns of result rows: scores and their statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from graphtrial.results.columns.column import (
    DATA,
    EVERYWHERE,
    JSON,
    LATEX,
    MARKDOWN,
    TABLES,
    Column,
    Scalar,
)
from graphtrial.results.columns.formats import interval, number
from graphtrial.results.statistics.summary import Summary

if TYPE_CHECKING:
    from graphtrial.results.rows import ResultRow


def _of_summary(summary: Callable[[ResultRow], Summary | None]) -> dict[str, Callable[[ResultRow], Scalar]]:
    """Return the scalars of a summary, one column each."""

    def part(get: Callable[[Summary], Scalar]) -> Callable[[ResultRow], Scalar]:
        return lambda row: None if (scores := summary(row)) is None else get(scores)

    return {
        "mean": part(lambda s: s.mean),
        "std": part(lambda s: s.std),
        "ci_low": part(lambda s: s.ci_low),
        "ci_high": part(lambda s: s.ci_high),
        "min": part(lambda s: s.min),
        "max": part(lambda s: s.max),
        "n": part(lambda s: s.n),
    }


def _test(row: ResultRow) -> Summary | None:
    return row.scores("test")


def _train(row: ResultRow) -> Summary | None:
    return row.scores("train")


def _val(row: ResultRow) -> Summary | None:
    return row.scores("val")


def _over_seeds(row: ResultRow) -> Summary | None:
    return row.over_seeds("test")


def _test_text(row: ResultRow) -> str:
    test = _test(row)
    extra = [f"{name} {summary}" for name, summary in row.extra_metrics.items()]
    return "" if test is None else ", ".join([str(test), *extra])


def _ci_text(row: ResultRow) -> str:
    test = _test(row)
    extra = [summary.interval for summary in row.extra_metrics.values()]
    return "" if test is None else ", ".join([test.interval, *extra])


def _ci(row: ResultRow) -> tuple[float, float] | None:
    test = _test(row)
    return None if test is None or test.ci_low is None or test.ci_high is None else (test.ci_low, test.ci_high)


SCORES: tuple[Column[ResultRow], ...] = (
    Column(
        "test",
        "Test",
        "test score, mean ± sample standard deviation over trials",
        _test,
        text=_test_text,
        flat=_of_summary(_test),
        outputs=EVERYWHERE | LATEX,
    ),
    Column(
        "test_ci",
        "95 % CI",
        "95 % confidence interval of the mean test score",
        _ci,
        interval,
        text=_ci_text,
        priority=1,
        outputs=TABLES | LATEX,
    ),
    Column(
        "test_min",
        "min",
        "smallest test score of a trial",
        lambda row: None if (test := _test(row)) is None else test.min,
        number(".3f"),
        outputs=MARKDOWN,
    ),
    Column(
        "test_max",
        "max",
        "largest test score of a trial",
        lambda row: None if (test := _test(row)) is None else test.max,
        number(".3f"),
        outputs=MARKDOWN,
    ),
    Column(
        "train",
        "Train",
        "training score, mean ± sample standard deviation over trials",
        _train,
        flat=_of_summary(_train),
        priority=4,
    ),
    Column("val", "Validation", "validation score over trials", _val, flat=_of_summary(_val), outputs=DATA),
    Column(
        "test_over_seeds",
        "Test over seeds",
        "test score over the means of each seed: repetitions of a cross-validation",
        _over_seeds,
        flat=_of_summary(_over_seeds),
        outputs=DATA,
    ),
    Column(
        "extra_metrics",
        "Extra metrics",
        "additional metrics of the test set, such as log MAE, by name; each as `test`",
        lambda row: row.extra_metrics,
        outputs=JSON,
    ),
)
