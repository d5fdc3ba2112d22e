"""Importers: one reader per file format, from paths and options to a graph set."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphtrial.core.errors import CorruptFileError, GraphTrialError, UnknownNameError, did_you_mean
from graphtrial.core.files import require_file
from graphtrial.core.spec import resolve_arguments
from graphtrial.datasets.custom.split_column import normalize_split_column
from graphtrial.graphs import GraphSet

MOST_NODES = 1 << 26
FORMATS = {
    "jsonl": "graphtrial.datasets.custom.importers.jsonl",
    "parquet": "graphtrial.datasets.custom.importers.parquet",
    "pyg": "graphtrial.datasets.custom.importers.tensors",
    "graphml": "graphtrial.datasets.custom.importers.graphml",
    "edgelist": "graphtrial.datasets.custom.importers.edgelist",
    "tu": "graphtrial.datasets.custom.importers.tu",
    "arrays": "graphtrial.datasets.custom.importers.arrays",
}
FILES = {"jsonl": 1, "parquet": 1, "pyg": 1, "edgelist": 2}
"""Most files of a format, where that is fixed; the second one is that of --labels."""
SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pt": "pyg",
    ".pth": "pyg",
    ".graphml": "graphml",
    ".edgelist": "edgelist",
    ".edges": "edgelist",
    ".zip": "tu",
}


def read(kind: str, paths: list[Path], options: dict[str, Any]) -> GraphSet:
    """Read files of a format; raises `GraphTrialError` with file and line for invalid ones."""
    if kind not in FORMATS:
        raise UnknownNameError(f"no format called '{kind}'.{did_you_mean(kind, FORMATS)} Known: {', '.join(FORMATS)}.")
    for path in paths:
        require_file(path)
    count = FILES.get(kind, len(paths))
    if len(paths) > count:
        raise GraphTrialError(f"format '{kind}' is one file, not {len(paths)}; --labels FILE goes with an edge list")
    reader: Callable[..., GraphSet] = importlib.import_module(FORMATS[kind]).read
    graphs = reader(**resolve_arguments(reader, {"paths": paths, **options}, f"format '{kind}'"))
    return normalize_split_column(graphs)


def check_size(nodes: int, subject: str) -> None:
    """Raise CorruptFileError above `MOST_NODES`: a few bytes can declare any number of nodes."""
    if nodes > MOST_NODES:
        raise CorruptFileError(f"{subject} has {nodes:,} nodes; a dataset of your own has at most {MOST_NODES:,}")


def reason(error: BaseException) -> str:
    """Return the first line of the message of an exception, or its type if it has none."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def format_of(path: Path) -> tuple[str, list[Path]]:
    """Infer the format of a file or folder from its name; returns it with the files to read."""
    if not path.exists():
        raise GraphTrialError(f"there is no file or folder {path}")
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        if any(file.name.endswith("_graph_indicator.txt") for file in files):
            return "tu", [file for file in files if file.suffix == ".txt"]
        graphml = [file for file in files if file.suffix == ".graphml"]
        if graphml:
            return "graphml", graphml
        raise GraphTrialError(f"{path} is neither a TU folder (NAME_A.txt, ...) nor a folder of .graphml files")
    if path.suffix.lower() not in SUFFIXES:
        raise GraphTrialError(
            f"the format of {path.name} cannot be inferred from its name; set --format: "
            f"{', '.join(name for name in FORMATS if name != 'arrays')}"
        )
    return SUFFIXES[path.suffix.lower()], [path]
