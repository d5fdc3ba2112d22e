"""What the benchmark datasets look like to a model, as data, so that counting parameters needs no download."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphtrial.nn import Shapes
from graphtrial.published.tables import table

WORDS = ("dataset", "names", "level", "encoding")


def published_shapes(dataset: str, encoding_dim: int = 0) -> Shapes | None:
    """Return the shapes of a dataset of the papers, by its name there, with an encoding of that size."""
    return next((_shapes(line, encoding_dim) for line in table("shapes") if line["dataset"] == dataset), None)


def known_shapes(name: str, encoding_dim: int = 0) -> Shapes | None:
    """Return the same by the name the dataset has here, or nothing for one that the papers do not count on.

    The papers call PROTEINS what TUDataset calls PROTEINS_full.
    """
    return next((_shapes(line, encoding_dim) for line in table("shapes") if name in line["names"].split()), None)


def _shapes(line: Mapping[str, str], encoding_dim: int) -> Shapes:
    sizes: dict[str, Any] = {key: int(value) for key, value in line.items() if key not in WORDS}
    level: Any = line["level"]
    return Shapes(level=level, encoding_dim=encoding_dim, encoding_replaces=line["encoding"] == "replace", **sizes)
