"""Importer of JSON lines, one record per line in the format of `records`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphtrial.core.errors import CorruptFileError
from graphtrial.datasets.custom.importers.records import graphs_from_records
from graphtrial.graphs import GraphSet


def read(paths: list[Path], both_ways: bool = False) -> GraphSet:
    """Read a file of JSON lines; blank lines are skipped."""
    (path,) = paths
    return graphs_from_records(_records(path), path.name, both_ways=both_ways)


def _records(path: Path) -> Iterator[tuple[str, Any]]:
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                yield f"line {number}", json.loads(line)
            except (ValueError, RecursionError) as error:
                raise CorruptFileError(f"{path.name}, line {number}: no valid JSON ({error})") from error
