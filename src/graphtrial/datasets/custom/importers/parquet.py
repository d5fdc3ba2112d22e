"""Importer of Parquet files, one row per graph in the format of `records`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphtrial.core.errors import CorruptFileError, missing_extra
from graphtrial.datasets.custom.importers import reason
from graphtrial.datasets.custom.importers.records import graphs_from_records
from graphtrial.graphs import GraphSet

BATCH_ROWS = 1024


def read(paths: list[Path], both_ways: bool = False) -> GraphSet:
    """Read a Parquet file in batches of rows."""
    (path,) = paths
    return graphs_from_records(_records(path), path.name, both_ways=both_ways)


def _records(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        pyarrow, parquet = (importlib.import_module(name) for name in ("pyarrow", "pyarrow.parquet"))
    except ImportError:
        raise missing_extra("reading Parquet files", "pyarrow", "parquet") from None
    number = 0
    try:
        with parquet.ParquetFile(path) as opened:
            for batch in opened.iter_batches(batch_size=BATCH_ROWS):
                for record in batch.to_pylist():
                    number += 1
                    yield f"row {number}", record
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise CorruptFileError(f"{path.name} is not an intact Parquet file: {reason(error)}") from error
