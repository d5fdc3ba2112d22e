"""Importers: one reader per file format, from paths and options to a graph set."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphtrial.core.errors import CorruptFileError, GraphTrialError, UnknownNameError, did_you_mean
from graphtrial.core.files import require_file
from graphtrial.core.signatures import declared_arguments
from graphtrial.core.spec import resolve_arguments
from graphtrial.datasets.custom.split_column import normalize_split_column
from graphtrial.graphs import GraphSet

MOST_NODES = 1 << 26
FORMATS = {
    name: f"graphtrial.datasets.custom.importers.{module}"
    for name, module in {
        "jsonl": "jsonl",
        "parquet": "parquet",
        "pyg": "tensors",
        "csv": "csv_tables",
        "graphml": "graphml",
        "gml": "gml",
        "node-link": "node_link",
        "edgelist": "edgelist",
        "tu": "tu",
        "arrays": "arrays",
        "library": "library",
    }.items()
}
INTERNAL = ("arrays", "library")
"""Formats that are not files of users."""
FILES = {"jsonl": 1, "pyg": 1, "edgelist": 2}
"""Most files of a format, where that is fixed; the second one is that of --labels."""
SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pt": "pyg",
    ".pth": "pyg",
    ".csv": "csv",
    ".graphml": "graphml",
    ".gml": "gml",
    ".json": "node-link",
    ".edgelist": "edgelist",
    ".edges": "edgelist",
    ".zip": "tu",
}
FOLDERS = ("parquet", "graphml", "gml", "node-link")
"""Formats of which a folder may hold many files."""


def read(kind: str, paths: list[Path], options: dict[str, Any]) -> GraphSet:
    """Read files of a format; raises `GraphTrialError` with file and line for invalid ones."""
    if kind not in FORMATS:
        raise UnknownNameError(f"no format called '{kind}'.{did_you_mean(kind, FORMATS)} Known: {', '.join(FORMATS)}.")
    for path in paths:
        require_file(path)
    count = FILES.get(kind, len(paths))
    if len(paths) > count:
        raise GraphTrialError(f"format '{kind}' is one file, not {len(paths)}; --labels FILE goes with an edge list")
    reader = _reader(kind)
    graphs = reader(**resolve_arguments(reader, {"paths": paths, **options}, f"format '{kind}'"))
    return normalize_split_column(graphs)


def options_of(kind: str) -> set[str]:
    """Return the names of the options that the reader of a format takes."""
    return {*declared_arguments(_reader(kind))} - {"paths"} if kind in FORMATS else set()


def _reader(kind: str) -> Callable[..., GraphSet]:
    reader: Callable[..., GraphSet] = importlib.import_module(FORMATS[kind]).read
    return reader


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
        return _format_of_folder(path)
    if path.suffix.lower() not in SUFFIXES:
        raise GraphTrialError(
            f"the format of {path.name} cannot be inferred from its name; set --format: "
            f"{', '.join(name for name in FORMATS if name not in INTERNAL)}"
        )
    return SUFFIXES[path.suffix.lower()], [path]


def _format_of_folder(path: Path) -> tuple[str, list[Path]]:
    files = _visible_files(path)
    if any(file.name.endswith("_graph_indicator.txt") for file in files):
        return "tu", [file for file in files if file.suffix == ".txt"]
    if any(file.name == "edges.csv" for file in files):
        return "csv", [file for file in files if file.name in ("edges.csv", "nodes.csv", "graphs.csv", "pairs.csv")]
    if (path / "data").is_dir() and not _files_of("parquet", files):  # as the Hugging Face hub has them
        files += _visible_files(path / "data")
    for name in FOLDERS:
        if matching := _files_of(name, files):
            return name, matching
    raise GraphTrialError(
        f"{path} is neither a TU folder (NAME_A.txt, ...) nor one of CSV tables (edges.csv, ...), of Parquet, GraphML "
        "or GML files or of node-link data in JSON"
    )


def _files_of(kind: str, files: list[Path]) -> list[Path]:
    """Return the files with a suffix of a format."""
    return [file for file in files if SUFFIXES.get(file.suffix.lower()) == kind]


def _visible_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))
