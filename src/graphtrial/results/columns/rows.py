"""Columns of result rows, in order; a new statistic is one entry, which every output shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from graphtrial.published import PublishedResult, PublishedScore
from graphtrial.results.columns.column import (
    DATA,
    EVERYWHERE,
    JSON,
    LATEX,
    MARKDOWN,
    NOWHERE,
    SITE,
    TERMINAL,
    Column,
    ColumnTable,
    Scalar,
)
from graphtrial.results.columns.formats import duration, epoch_and_total, number
from graphtrial.results.columns.row_scores import SCORES
from graphtrial.results.columns.row_settings import SETTINGS
from graphtrial.results.columns.row_tuning import TUNING
from graphtrial.results.departures import badges

if TYPE_CHECKING:
    from graphtrial.results.rows import ResultRow


def _published(get: Callable[[PublishedResult], Scalar]) -> Callable[[ResultRow], Scalar]:
    return lambda row: None if row.published is None else get(row.published)


def _published_test(get: Callable[[PublishedScore], Scalar]) -> Callable[[ResultRow], Scalar]:
    return _published(lambda result: None if result.test is None else get(result.test))


def _published_text(row: ResultRow) -> str:
    if row.published is None or row.published.test is None:
        return ""
    return row.published.test.text + ("" if row.published.origin == "own" else f" ({row.published.origin})")


def _trials(row: ResultRow) -> str:
    others = [f"{count} {status}" for status, count in row.statuses.items() if status != "done"]
    derived = f" ({len(row.derived_seeds)} seeds derived)" if row.derived_seeds else ""
    return ", ".join([str(row.statuses.get("done", 0)), *others]) + derived


def _devices(row: ResultRow) -> str:
    return ", ".join(sorted({trial.device for trial in row.trials}))


def _verdict(row: ResultRow) -> str:
    return "" if row.published is None else row.verdict.label


ROW_COLUMNS: ColumnTable[ResultRow] = ColumnTable(
    [
        *SETTINGS,
        *SCORES,
        *TUNING,
        Column(
            "epochs",
            "#Epoch",
            "mean number of epochs of a trial",
            lambda row: row.mean("epochs"),
            text=lambda row: f"{row.mean('epochs'):.1f}" if row.has_epochs and row.mean("epochs") is not None else "",
            priority=3,
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
            priority=5,
            outputs=MARKDOWN | TERMINAL,
        ),
        Column(
            "statuses",
            "Trials",
            "number of trials by status",
            lambda row: row.statuses,
            text=_trials,
            flat={"": _trials},
        ),
        Column(
            "device",
            "Device",
            "devices that the trials were computed on; shown where one is not the CPU",
            _devices,
            align="left",
            missing="cpu",
            priority=4,
            optional=True,
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
            "test score as printed in the paper, with its origin where it is not the paper's own",
            lambda row: row.published,
            text=_published_text,
            flat={
                "paper": _published(lambda result: result.paper),
                "table": _published(lambda result: result.table),
                "test_mean": _published_test(lambda score: score.mean),
                "test_std": _published_test(lambda score: score.std),
                "test_n": _published_test(lambda score: score.n),
                "origin": _published(lambda result: result.origin),
                "citation": _published(lambda result: result.citation),
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
            rigid=True,
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
