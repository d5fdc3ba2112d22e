"""Columns of result rows. A new statistic is one entry here, and every output shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from graphtrial.published import PublishedResult, PublishedScore
from graphtrial.results.columns.column import DATA, EVERYWHERE, LATEX, TABLES, Column, ColumnTable, Output, Scalar
from graphtrial.results.columns.formats import duration, epoch_and_total, interval, number
from graphtrial.results.departures import badges
from graphtrial.results.statistics.summary import Summary
from graphtrial.results.titles import label_title

if TYPE_CHECKING:
    from graphtrial.results.rows import ResultRow

JSON: frozenset[Output] = frozenset({"json"})
CSV: frozenset[Output] = frozenset({"csv"})
SITE: frozenset[Output] = frozenset({"site"})
MARKDOWN: frozenset[Output] = frozenset({"markdown"})
NOWHERE: frozenset[Output] = frozenset()


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


def _published(get: Callable[[PublishedResult], Scalar]) -> Callable[[ResultRow], Scalar]:
    return lambda row: None if row.published is None else get(row.published)


def _published_test(get: Callable[[PublishedScore], Scalar]) -> Callable[[ResultRow], Scalar]:
    return _published(lambda printed: None if printed.test is None else get(printed.test))


def _test(row: ResultRow) -> Summary | None:
    return row.scores("test")


def _train(row: ResultRow) -> Summary | None:
    return row.scores("train")


def _val(row: ResultRow) -> Summary | None:
    return row.scores("val")


def _over_seeds(row: ResultRow) -> Summary | None:
    return row.over_seeds("test")


def _label(row: ResultRow) -> str:
    return f"{label_title(row)} ({row.differs_in})" if row.differs_in else label_title(row)


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


def _trials(row: ResultRow) -> str:
    others = [f"{count} {status}" for status, count in row.statuses.items() if status != "done"]
    derived = f" ({len(row.derived_seeds)} seeds derived)" if row.derived_seeds else ""
    return ", ".join([str(row.statuses.get("done", 0)), *others]) + derived


def _verdict(row: ResultRow) -> str:
    return "" if row.published is None else row.verdict.label


ROW_COLUMNS: ColumnTable[ResultRow] = ColumnTable(
    [
        Column(
            "dataset",
            "Dataset",
            "name of the dataset",
            lambda row: row.first.spec.dataset,
            align="left",
            outputs=DATA | SITE,
        ),
        Column(
            "protocol",
            "Protocol",
            "name and version of the protocol",
            lambda row: row.first.spec.protocol,
            outputs=DATA,
        ),
        Column(
            "model",
            "Name",
            "registered name of the model or kernel",
            lambda row: row.first.spec.model.name,
            outputs=DATA,
        ),
        Column(
            "label",
            "Model",
            "model as the papers write it; -E: with edge features of the dataset",
            lambda row: row.label,
            text=_label,
            align="left",
            outputs=EVERYWHERE | LATEX,
        ),
        Column(
            "differs_in",
            "Differs in",
            "settings that distinguish rows of the same model, encoding and depth",
            lambda row: row.differs_in,
            outputs=DATA,
        ),
        Column(
            "encoding",
            "Encoding",
            "positional or structural encoding with its arguments",
            lambda row: row.encoding_arguments,
            text=lambda row: row.encoding,
            flat={"": lambda row: row.encoding},
            align="left",
            outputs=EVERYWHERE | LATEX,
        ),
        Column(
            "settings",
            "Settings",
            "every setting of the model, defaults included, but those that validation selects",
            lambda row: row.settings,
            outputs=JSON,
        ),
        Column(
            "layers",
            "L",
            "number of layers, or the range that validation selected",
            lambda row: row.setting("layers") or None,
            missing="",
            outputs=TABLES | CSV | LATEX,
        ),
        Column(
            "params",
            "#Param",
            "exact number of trainable parameters",
            lambda row: row.params,
            text=lambda row: str(row.params) if row.params and row.has_epochs else "",
            missing="",
            outputs=EVERYWHERE | LATEX,
        ),
        Column("metric", "Metric", "metric of the scores", lambda row: row.first.metric, outputs=DATA),
        Column(
            "higher_is_better",
            "Higher is better",
            "direction of the metric",
            lambda row: row.first.higher_is_better,
            outputs=DATA,
        ),
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
        Column(
            "epochs",
            "#Epoch",
            "mean number of epochs of a trial",
            lambda row: row.mean("epochs"),
            text=lambda row: f"{row.mean('epochs'):.1f}" if row.has_epochs and row.mean("epochs") is not None else "",
        ),
        Column(
            "epoch_seconds",
            "s / epoch",
            "mean time per epoch, one thread per trial",
            lambda row: row.mean("epoch_seconds"),
            text=lambda row: f"{seconds:.2f}" if row.has_epochs and (seconds := row.mean("epoch_seconds")) else "",
            unit="s",
            outputs=DATA | SITE,
        ),
        Column(
            "total_hours",
            "Total",
            "mean time per trial, one thread",
            lambda row: row.hours,
            duration,
            unit="h",
            outputs=DATA | SITE,
        ),
        Column(
            "time",
            "Epoch/Total",
            "mean time per epoch and per trial, one thread",
            lambda row: (row.mean("epoch_seconds"), row.hours),
            text=lambda row: epoch_and_total(row.mean("epoch_seconds") if row.has_epochs else None, row.hours),
            outputs=MARKDOWN | {"terminal"},
        ),
        Column(
            "statuses",
            "Trials",
            "number of trials by status",
            lambda row: row.statuses,
            text=_trials,
            flat={"": _trials},
        ),
        Column("trials", "Trials", "ids of the trials", lambda row: [trial.id for trial in row.trials], outputs=JSON),
        Column(
            "derived_seeds",
            "Derived seeds",
            "seeds beyond those of the protocol",
            lambda row: row.derived_seeds,
            flat={"": lambda row: " ".join(map(str, row.derived_seeds))},
            outputs=DATA,
        ),
        Column(
            "choices",
            "Selected settings",
            "settings selected by validation, with trial, split and seed of each fold; empty where nothing is selected",
            lambda row: row.choices,
            outputs=JSON,
        ),
        Column(
            "published",
            "Published",
            "test score as printed in the paper",
            lambda row: row.published,
            text=lambda row: row.published.test.printed if row.published and row.published.test else "",
            flat={
                "paper": _published(lambda printed: printed.paper),
                "table": _published(lambda printed: printed.table),
                "test_mean": _published_test(lambda score: score.mean),
                "test_std": _published_test(lambda score: score.sd),
                "test_n": _published_test(lambda score: score.n),
            },
            outputs=EVERYWHERE | LATEX,
        ),
        Column(
            "difference",
            "Difference",
            "ours minus the published mean",
            lambda row: row.verdict.difference,
            number("+.3f"),
            outputs=NOWHERE,
        ),
        Column(
            "p_holm",
            "p",
            "p-value of Welch's t-test after Holm's correction within the table",
            lambda row: row.verdict.p_holm,
            number(".2g"),
            outputs=NOWHERE,
        ),
        Column(
            "departures",
            "Departures",
            "differences from the published experiment: badge, reason, and whether scores still compare",
            lambda row: row.departures,
            flat={
                "": lambda row: "; ".join(departure.badge for departure in row.departures),
                "reason": lambda row: "; ".join(departure.reason for departure in row.departures),
            },
            outputs=DATA,
        ),
        Column(
            "verdict",
            "Verdict",
            "comparison with the published score",
            lambda row: row.verdict,
            text=_verdict,
            flat={
                "kind": lambda row: row.verdict.kind,
                "direction": lambda row: row.verdict.direction,
                "difference": lambda row: row.verdict.difference,
                "ci_low": lambda row: row.verdict.ci_low,
                "ci_high": lambda row: row.verdict.ci_high,
                "margin": lambda row: row.verdict.margin,
                "p": lambda row: row.verdict.p,
                "p_holm": lambda row: row.verdict.p_holm,
                "p_equivalence": lambda row: row.verdict.p_equivalence,
                "reason": lambda row: row.verdict.reason,
            },
            align="left",
            outputs=EVERYWHERE - {"markdown"},
        ),
        Column(
            "verdict_and_badges",
            "Verdict",
            "comparison with the published score, and badges of departures",
            lambda row: row.verdict.label,
            text=lambda row: " ".join(filter(None, [_verdict(row), badges(row)])),
            outputs=MARKDOWN | LATEX,
        ),
        Column("reason", "Why", "reason of the verdict", lambda row: row.verdict.reason, align="left", outputs=NOWHERE),
    ]
)
