"""Importer of Parquet files: one row per graph, in the format of `records` or in that of `graphs-datasets`."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphtrial.core.errors import CorruptFileError, GraphTrialError, missing_extra
from graphtrial.datasets.custom.importers import reason
from graphtrial.datasets.custom.importers.hub_rows import graphs_from_rows
from graphtrial.datasets.custom.importers.parquet_columns import METADATA, graphs_from_columns
from graphtrial.datasets.custom.importers.records import graphs_from_records
from graphtrial.graphs import GraphSet
from graphtrial.graphs.mask_names import SPELLINGS, SPLIT

BATCH_ROWS = 1024
PART_FILE = re.compile(r"(train(?:ing)?|val(?:id|idation)?|dev|test(?:ing)?)\b.*", re.ASCII)
"""Files of one part, as the Hugging Face hub names them: `train-00000-of-00001.parquet`."""


def read(paths: list[Path], both_ways: bool = False) -> GraphSet:
    """Read Parquet files in batches of rows; of several, each is named after its part.

    A file that `graphtrial data export` wrote has the description of its columns, and becomes the same graph set.
    """
    schemas = [_schema(path) for path in paths]
    hub = ["edge_index" in schema.names for schema in schemas]
    if len({*hub}) > 1:
        raise CorruptFileError(f"only some of the files have a column 'edge_index': {', '.join(p.name for p in paths)}")
    if hub[0] and both_ways:
        raise GraphTrialError(
            "--both-ways: a file with a column 'edge_index' has each edge both ways already, as PyG's"
        )
    if len(paths) == 1 and METADATA in (schemas[0].metadata or {}):
        with _intact(paths[0]):
            return graphs_from_columns(_batches(paths[0]), schemas[0].metadata[METADATA], paths[0].name)
    if hub[0]:
        return graphs_from_rows(_parts(paths))
    rows = ((where, record) for path in paths for where, record in _rows(path))
    return graphs_from_records(rows, paths[0].name, both_ways=both_ways)


def _parts(paths: list[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield location and row; in several files the part of a row is that of its file."""
    parts = {path: match[1] for path in paths if (match := PART_FILE.fullmatch(path.name.lower()))}
    if len(paths) > 1 and len(parts) < len(paths):
        name = next(path.name for path in paths if path not in parts)
        raise GraphTrialError(
            f"of several Parquet files each is one part, such as train-0.parquet; '{name}' is of none"
        )
    several = len({SPELLINGS.get(part, part) for part in parts.values()}) > 1
    for path in paths:
        for where, row in _rows(path):
            if several and SPLIT in row:
                raise CorruptFileError(f"{path.name}, {where}: the split is given twice, by the files and by '{SPLIT}'")
            yield f"{path.name}, {where}", {**row, SPLIT: parts[path]} if several else row


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    number = 0
    for batch in _batches(path):
        with _intact(path):
            records = batch.to_pylist()
        for record in records:
            number += 1
            yield f"row {number}", record


def _schema(path: Path) -> Any:
    with _intact(path) as parquet:
        return parquet.read_schema(path)


def _batches(path: Path) -> Iterator[Any]:
    with _intact(path) as parquet, parquet.ParquetFile(path) as opened:
        yield from opened.iter_batches(batch_size=BATCH_ROWS)


@contextmanager
def _intact(path: Path) -> Iterator[Any]:
    """Yield `pyarrow.parquet`; its exceptions inside the block are those of a corrupt file."""
    try:
        arrow, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise missing_extra("reading Parquet files", "pyarrow", "parquet") from None
    try:
        yield parquet
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise CorruptFileError(f"{path.name} is not an intact Parquet file: {reason(error)}") from error
