"""The transcriptions as they stand, and the merging of their lines into printed rows."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
PACKAGE = FOLDER.parents[1] / "src" / "graphtrial" / "published"
"""Where the normalised files go."""
Line = Mapping[str, str]
ROW_KEY = (
    *("paper", "table", "dataset", "model", "label_in_paper"),
    *("variant", "layers", "params", "metric", "seed_run"),
)
"""The columns of `results.csv` that the lines of one printed row (test, train, val) have in common."""


@cache
def read_csv(name: str | Path) -> tuple[Line, ...]:
    """Return the lines of a transcription, such as `raw/results.csv`; an empty cell means not stated."""
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@dataclass(frozen=True)
class PrintedRow:
    """One row of a published table in the paper's own names.

    `variant` holds what makes it differ from the plain model: `E` edge features of the dataset are used; `PE` and
    `pe_dim` the encoding; `train_size`, `target`, `residual` and the like for ablation studies. `seed_run` tells the
    two repetitions of an experiment apart. `lines` are the transcribed lines by split.
    """

    paper: str
    table: int
    dataset: str
    model: str
    label: str
    variant: Mapping[str, Any]
    layers: int | None
    params: int | None
    metric: str
    seed_run: int | None
    status: str
    lines: Mapping[str, Line]

    def value(self, name: str) -> Any:
        """Return a key of the variant or a field of the row; none where it has neither."""
        return self.variant[name] if name in self.variant else getattr(self, name, None)


@cache
def printed_rows() -> tuple[PrintedRow, ...]:
    """Return all printed rows, in the order of the papers."""
    splits: dict[tuple[str, ...], dict[str, Line]] = {}
    for line in read_csv("raw/results.csv"):
        splits.setdefault(tuple(line[key] for key in ROW_KEY), {})[line["split"]] = line
    return tuple(_row(lines) for lines in splits.values())


def _row(lines: Mapping[str, Line]) -> PrintedRow:
    line = lines["test"]
    return PrintedRow(
        paper=line["paper"],
        table=int(line["table"]),
        dataset=line["dataset"],
        model=line["model"],
        label=line["label_in_paper"],
        variant=json.loads(line["variant"]),
        layers=whole(line["layers"]),
        params=whole(line["params"]),
        metric=line["metric"],
        seed_run=whole(line["seed_run"]),
        status=line["status"],
        lines=lines,
    )


def scores(row: PrintedRow) -> dict[str, Any]:
    """Return the scores of a row by split, with the digits of the paper as `text`."""
    return {split: score for split, line in row.lines.items() if (score := _score(line))}


def _score(line: Line) -> dict[str, Any] | None:
    if not line["mean"]:
        return None
    error = line["sd"] or line["ci95_half_width"]
    bound = "<" if line["sd_is_upper_bound"] == "true" else ""
    return stated(
        {
            "mean": float(line["mean"]),
            "std": number(line["sd"]),
            "min": number(line["min"]),
            "max": number(line["max"]),
            "n": whole(line["n_runs"]),
            "text": f"{line['mean']}±{bound}{error}" if error else line["mean"],
            "std_is_upper_bound": bool(bound) or None,
            "std_all_runs": number(line["sd_all_runs"]),
            "ci95_half_width": number(line["ci95_half_width"]),
        }
    )


def plain(name: str) -> str:
    """Return a name without case, hyphens and underscores: the papers write `GCN-vanilla` and `WikiCS`."""
    return name.casefold().replace("-", "").replace("_", "")


def stated(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts without those that are not stated."""
    return {name: value for name, value in facts.items() if value is not None}


def whole(text: str) -> int | None:
    """Read an integer; an empty cell is none."""
    return int(text) if text else None


def number(text: str) -> float | None:
    """Read a number; an empty cell is none."""
    return float(text) if text else None


def truth(text: str) -> bool | None:
    """Read `True` or `False`; an empty cell is none."""
    return text == "True" if text else None
