"""The data files, read once."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from graphtrial.core.errors import UnknownNameError, did_you_mean

TABLES = ("configs", "datasets", "hyperparameters", "results", "shapes", "solved", "wikics_classes")


@cache
def table(name: str) -> tuple[Mapping[str, str], ...]:
    """Return the lines of a data file as they stand; an empty cell means not stated.

    `results` has one line per printed score, `configs` one per released configuration, `hyperparameters` the settings
    that the papers state, `datasets` their statistics and splits, `shapes` what each looks like to a model, `solved`
    the widths that no configuration has but the printed number of parameters implies, `wikics_classes` the categories
    behind each class.
    """
    if name not in TABLES:
        raise UnknownNameError(
            f"no published table called '{name}'.{did_you_mean(name, TABLES)} Known tables: {', '.join(TABLES)}."
        )
    text = files("graphtrial.published").joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(io.StringIO(text)))


def plain(name: str) -> str:
    """Return a name without case, hyphens and underscores: the papers write `GCN-vanilla` and `WikiCS`."""
    return name.casefold().replace("-", "").replace("_", "")


def whole(text: str) -> int | None:
    """Read an integer; an empty cell is none."""
    return int(text) if text else None


def number(text: str) -> float | None:
    """Read a number; an empty cell is none."""
    return float(text) if text else None
