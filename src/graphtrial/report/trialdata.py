"""All trials of a row as one JSON file: shared fields once, individual fields and epochs per trial."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from graphtrial.core.spec import canonical_json
from graphtrial.training.outcome import Epoch
from graphtrial.trials.store import TrialRecord

COLUMNS = tuple(field.name for field in fields(Epoch) if field.name not in ("lr", "seconds"))
DIGITS = 4


def row_data(row: str, trials: Sequence[TrialRecord], histories: Mapping[str, Sequence[Epoch]]) -> dict[str, Any]:
    """Return the trials of a row as JSON-like values.

    The specification of a trial is `spec` updated by its own `spec`; `environment` is an index into `environments`.
    Values of epochs and details have four significant digits, as in charts; epochs count from 1 unless there is an
    `epoch`; the learning rate is a list of [first epoch, value].
    """
    specs = [trial.spec.to_dict() for trial in trials]
    names = list(dict.fromkeys(name for spec in specs for name in spec))
    own = [name for name in names if any(spec.get(name) != specs[0].get(name) for spec in specs)]
    shared = {key: value for key, value in specs[0].items() if key not in own}
    environments: list[Any] = []
    indices: dict[str, int] = {}
    entries = []
    for trial, spec in zip(trials, specs, strict=True):
        index = indices.setdefault(canonical_json(trial.environment), len(environments))
        if index == len(environments):
            environments.append(trial.environment)
        history = histories.get(trial.id, ())
        entries.append(
            {
                "id": trial.id,
                "status": trial.status,
                "scores": trial.scores,
                "params": trial.params,
                "epoch_seconds": trial.epoch_seconds,
                "spec": {name: spec[name] for name in own if name in spec},
                "environment": index,
                **({"details": _shortened(trial.details)} if trial.details else {}),
                **({"epochs": _epochs(history)} if history else {}),
            }
        )
    metric = {"metric": trials[0].metric, "higher_is_better": trials[0].higher_is_better}
    return {"row": row, **metric, "spec": shared, "environments": environments, "trials": entries}


def _epochs(history: Sequence[Epoch]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [_short(getattr(epoch, name)) for epoch in history] for name in COLUMNS}
    rates = [(epoch.epoch, epoch.lr) for epoch in history]
    changes = [pair for before, pair in zip([(0, None), *rates], rates, strict=False) if before[1] != pair[1]]
    if columns["epoch"] == list(range(1, len(history) + 1)):
        del columns["epoch"]
    return columns | {"lr": [list(pair) for pair in changes]}


def _shortened(value: Any) -> Any:
    """Return JSON-like values with their numbers shortened."""
    if isinstance(value, Mapping):
        return {key: _shortened(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_shortened(one) for one in value]
    return _short(value) if isinstance(value, float) else value


def _short(value: float) -> float | str:
    if isinstance(value, int):
        return value
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)
