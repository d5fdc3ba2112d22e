"""Columns of trials."""

from __future__ import annotations

from collections.abc import Callable

from graphtrial.encodings.notation import short_encoding
from graphtrial.results.columns.column import DATA, EVERYWHERE, Column, ColumnTable
from graphtrial.results.columns.formats import number
from graphtrial.trials.store import TrialRecord


def _score(part: str) -> Callable[[TrialRecord], float | None]:
    return lambda trial: trial.scores.get(part)


TRIAL_COLUMNS: ColumnTable[TrialRecord] = ColumnTable(
    [
        Column("id", "Trial", "id of the trial", lambda trial: trial.id, align="left", rigid=True),
        Column("dataset", "Dataset", "name of the dataset", lambda trial: trial.spec.dataset, align="left"),
        Column("model", "Model", "name of the model or kernel", lambda trial: trial.spec.model.name, align="left"),
        Column(
            "encoding",
            "Encoding",
            "positional or structural encoding",
            lambda trial: short_encoding(trial.spec.encoding),
            align="left",
            priority=1,
        ),
        Column("split", "Split", "number of the split", lambda trial: trial.spec.split),
        Column("seed", "Seed", "random seed", lambda trial: trial.spec.seed),
        Column(
            "status",
            "Status",
            "running, paused, done, time, interrupted or failed",
            lambda trial: trial.status,
            align="left",
        ),
        Column("test", "Test", "test score", _score("test"), number(".3f")),
        Column("val", "Validation", "validation score", _score("val"), number(".3f"), outputs=DATA),
        Column("train", "Train", "training score", _score("train"), number(".3f"), outputs=DATA),
        Column("epochs", "#Epoch", "number of epochs", lambda trial: trial.epochs, priority=2),
        Column(
            "epoch_seconds",
            "s / epoch",
            "mean time per epoch",
            lambda trial: trial.epoch_seconds or None,
            number(".2f"),
            unit="s",
            outputs=EVERYWHERE - {"terminal"},
        ),
        Column(
            "device",
            "Device",
            "device that it was computed on; mixed if it was resumed on another one",
            lambda trial: trial.device,
            align="left",
        ),
    ]
)
