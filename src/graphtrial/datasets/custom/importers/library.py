"""Reader of the arrays that the loader of another library returned."""

from __future__ import annotations

from pathlib import Path

from graphtrial.datasets.custom.importers import arrays
from graphtrial.graphs import GraphSet


def read(paths: list[Path], source: str) -> GraphSet:
    """Read the arrays; `source` is the name of the dataset, such as `pyg:Planetoid/Cora`, for the record."""
    return arrays.read(paths)
