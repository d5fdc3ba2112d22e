"""Columns of result rows: what their tuning cost; tables show them where a row was tuned."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from graphtrial.results.columns.column import Column
from graphtrial.results.columns.formats import number
from graphtrial.results.tuning import TuningEffort

if TYPE_CHECKING:
    from graphtrial.results.rows import ResultRow


def _of_tuning(get: Callable[[TuningEffort], float]) -> Callable[[ResultRow], float | None]:
    return lambda row: None if row.tuning is None else get(row.tuning)


TUNING: tuple[Column[ResultRow], ...] = (
    Column(
        "tuning_configurations",
        "Tried",
        "configurations that the search tried",
        _of_tuning(lambda effort: effort.configurations),
        optional=True,
        priority=1,
    ),
    Column(
        "tuning_epochs",
        "Tuning epochs",
        "epochs that the search spent",
        _of_tuning(lambda effort: effort.epochs),
        optional=True,
        priority=1,
    ),
    Column(
        "tuning_core_hours",
        "Tuning core-h",
        "core-hours that the search spent",
        _of_tuning(lambda effort: effort.core_hours),
        number(".2f"),
        unit="h",
        optional=True,
        priority=1,
    ),
)
