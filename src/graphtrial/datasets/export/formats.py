"""Export a dataset to a folder, in one of several formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from graphtrial.core.errors import GraphTrialError, UnknownNameError, did_you_mean
from graphtrial.core.files import make_folder
from graphtrial.datasets.dataset import Dataset
from graphtrial.datasets.export.croissant import write_croissant
from graphtrial.datasets.export.parquet import write_parquet
from graphtrial.datasets.export.pyg import write_pyg

DESCRIPTION, PARQUET, TORCH = "croissant.json", "graphs.parquet", "graphs.pt"


def export(dataset: Dataset, folder: Path | str, to: str = "parquet") -> list[Path]:
    """Write a dataset to a folder and return the files; existing files are not overwritten.

    to: `pyg`, a file `graphs.pt` with a list of dictionaries of tensors; `parquet`, a file `graphs.parquet` of the
    `graphs-datasets` layout; or `croissant`, the same with a description `croissant.json` of its columns, checksum and
    licence. Every split is included.
    """
    if to not in FORMATS:
        raise UnknownNameError(f"no export to '{to}'.{did_you_mean(to, FORMATS)} Known: {', '.join(FORMATS)}.")
    names, write = FORMATS[to]
    paths = [make_folder(Path(folder)) / name for name in names]
    for path in paths:
        if path.exists():
            raise GraphTrialError(f"{path} exists already; delete it, or export to another folder")
    write(dataset, *paths)
    return paths


def _croissant(dataset: Dataset, table: Path, description: Path) -> None:
    write_croissant(dataset, table, write_parquet(dataset, table), description)


FORMATS: dict[str, tuple[tuple[str, ...], Callable[..., object]]] = {
    "pyg": ((TORCH,), write_pyg),
    "parquet": ((PARQUET,), write_parquet),
    "croissant": ((PARQUET, DESCRIPTION), _croissant),
}
"""Files of each format, and the function that writes them."""
