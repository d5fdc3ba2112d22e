"""What the benchmark datasets look like to a model, as data, so that counting parameters needs no download."""

from __future__ import annotations

from typing import Any

from graphtrial.nn import Shapes
from graphtrial.published.tables import plain, table


def published_shapes(dataset: str, encoding_dim: int = 0) -> Shapes | None:
    """Return the shapes of a benchmark dataset with an encoding of that size, or nothing for other datasets."""
    for line in table("shapes"):
        if plain(line["dataset"]) == plain(dataset):
            sizes: dict[str, Any] = {key: int(line[key]) for key in line if key not in ("dataset", "level", "encoding")}
            replaces = line["encoding"] == "replace"
            return Shapes(level=line["level"], encoding_dim=encoding_dim, encoding_replaces=replaces, **sizes)  # type: ignore[arg-type]
    return None
