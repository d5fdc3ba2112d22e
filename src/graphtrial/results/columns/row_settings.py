"""Columns of result rows: dataset, model and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphtrial.results.columns.column import (
    CSV,
    DATA,
    EVERYWHERE,
    JSON,
    LATEX,
    SITE,
    TABLES,
    Column,
)
from graphtrial.results.titles import label_title

if TYPE_CHECKING:
    from graphtrial.results.rows import ResultRow


def _label(row: ResultRow) -> str:
    return f"{label_title(row)} ({row.differs_in})" if row.differs_in else label_title(row)


SETTINGS: tuple[Column[ResultRow], ...] = (
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
        align="left",
        outputs=DATA | SITE,
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
        "what distinguishes rows of the same model, encoding and depth: `tuned`, settings",
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
        priority=2,
        outputs=TABLES | CSV | LATEX,
    ),
    Column(
        "params",
        "#Param",
        "exact number of trainable parameters",
        lambda row: row.params,
        text=lambda row: str(row.params) if row.params and row.has_epochs else "",
        missing="",
        priority=1,
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
)
