"""Shapes of the benchmark datasets, as data, so that counting parameters needs no download."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from graphtrial.nn import Shapes

NOT_SIZES = ("dataset", "names", "level", "encoding")


@cache
def shape_lines() -> tuple[Mapping[str, str], ...]:
    """Return one line per dataset: name in the papers, registered names, sizes of features and outputs."""
    text = files("graphtrial.published").joinpath("shapes.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(io.StringIO(text)))


def published_shapes(dataset: str, encoding_dim: int = 0) -> Shapes | None:
    """Return the shapes of a dataset by its name in the papers, with an encoding of that size, or none."""
    return next((_shapes(line, encoding_dim) for line in shape_lines() if line["dataset"] == dataset), None)


def lookup_shapes(name: str, encoding_dim: int = 0) -> Shapes | None:
    """Return the shapes of a dataset by its registered name, with an encoding of that size, or none.

    PROTEINS of the papers is PROTEINS_full of TUDataset.
    """
    return next((_shapes(line, encoding_dim) for line in shape_lines() if name in line["names"].split()), None)


def _shapes(line: Mapping[str, str], encoding_dim: int) -> Shapes:
    sizes: dict[str, Any] = {
        f"{key.removesuffix('s')}_counts" if "|" in value else key: _size(value)
        for key, value in line.items()
        if key not in NOT_SIZES
    }
    level: Any = line["level"]
    return Shapes(level=level, encoding_dim=encoding_dim, encoding_replaces=line["encoding"] == "replace", **sizes)


def _size(text: str) -> int | tuple[int, ...]:
    """Read a size; `119|5|12` are the numbers of categories of several columns."""
    return tuple(map(int, text.split("|"))) if "|" in text else int(text)
