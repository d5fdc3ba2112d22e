"""Export of a dataset as a Parquet file of the `graphs-datasets` layout, one row per graph."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import missing_extra
from graphtrial.core.files import atomic_path
from graphtrial.datasets.custom.importers.parquet_columns import FORMAT, METADATA
from graphtrial.datasets.dataset import Dataset
from graphtrial.graphs import Column, GraphSet
from graphtrial.graphs.mask_names import PART, PARTS, SPLIT

Array = npt.NDArray[Any]
NAMES = {"x": "node_feat", PART: SPLIT}
ROWS = 1024
"""Graphs of one row group."""


def write_parquet(dataset: Dataset, path: Path) -> dict[str, dict[str, Any]]:
    """Write the graphs with all columns and splits; returns level, dtype, shape and types of each column of the file.

    The same description is in the metadata of the file, so that it is imported to the same arrays.
    """
    try:
        arrow, parquet = (importlib.import_module(name) for name in ("pyarrow", "pyarrow.parquet"))
    except ImportError:
        raise missing_extra("writing Parquet files", "pyarrow", "parquet") from None
    graphs = dataset.with_splits()
    columns = {NAMES.get(name, name): _facts(name, column) for name, column in graphs.columns.items()}
    about = {"format": FORMAT, "dataset": dataset.name, "hash": dataset.hash, "licence": dataset.spec.licence}
    metadata = {METADATA: json.dumps({**about, "columns": columns})}
    with atomic_path(path) as temporary:
        writer = None
        for table in _tables(graphs, arrow):
            if writer is None:
                writer = parquet.ParquetWriter(temporary, table.schema.with_metadata(metadata))
            writer.write_table(table.replace_schema_metadata(metadata))
        if writer is not None:
            writer.close()
    return columns


def stored_shape(name: str, column: Column) -> tuple[int, ...]:
    """Return the shape of a row in the file: features of nodes and edges and targets of graphs are lists there."""
    listed = name in ("x", "edge_attr") or (name == "y" and column.level == "graph")
    return tuple(column.values.shape[1:]) or ((1,) if listed else ())


def _facts(name: str, column: Column) -> dict[str, Any]:
    shape, stored = list(column.values.shape[1:]), list(stored_shape(name, column))
    facts = {"name": name, "level": column.level, "meaning": column.meaning, "types": column.types}
    return {**facts, "dtype": str(column.values.dtype), "shape": shape, "stored": stored}


def _tables(graphs: GraphSet, arrow: Any) -> Iterator[Any]:
    for first in range(0, len(graphs), ROWS):
        last = min(first + ROWS, len(graphs))
        pointers = {
            "node": np.asarray(graphs.node_ptr[first : last + 1], np.int64),
            "edge": np.asarray(graphs.edge_ptr[first : last + 1], np.int64),
            "graph": np.arange(first, last + 1),
            "pair": graphs.pair_ptr[first : last + 1],
        }
        columns = {
            "edge_index": _edge_index(graphs, pointers["edge"], arrow),
            "num_nodes": arrow.array(np.diff(pointers["node"])),
        }
        for name, column in graphs.columns.items():
            at = pointers[column.level]
            rows = np.asarray(column.values[at[0] : at[-1]])
            values = np.array(PARTS, object)[rows] if name == PART else rows.reshape(-1, *stored_shape(name, column))
            nested = _lists(values, arrow, arrow.string() if name == PART else None)
            lists = nested if column.level == "graph" else arrow.ListArray.from_arrays(_offsets(at), nested)
            columns[NAMES.get(name, name)] = lists
        yield arrow.table(columns)


def _edge_index(graphs: GraphSet, at: Array, arrow: Any) -> Any:
    """Return a list of sources and one of targets for each graph."""
    edges = np.asarray(graphs.edge_index[:, at[0] : at[-1]], np.int64)
    counts = np.diff(at)
    graph = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(edges.shape[1]) + (at[:-1] - at[0])[graph]  # sources of a graph before its targets
    flat = np.empty(edges.size, np.int64)
    flat[place], flat[place + counts[graph]] = edges
    ends = np.concatenate([[0], np.cumsum(np.repeat(counts, 2))])
    lists = arrow.ListArray.from_arrays(_offsets(ends), arrow.array(flat))
    return arrow.ListArray.from_arrays(_offsets(2 * np.arange(len(counts) + 1)), lists)


def _lists(values: Array, arrow: Any, kind: Any) -> Any:
    """Return an array as nested lists, one for each dimension after the first."""
    nested = arrow.array(np.ascontiguousarray(values).reshape(-1), type=kind)
    for axis in range(values.ndim - 1, 0, -1):
        rows = int(np.prod(values.shape[:axis]))
        nested = arrow.ListArray.from_arrays(_offsets(np.arange(rows + 1) * values.shape[axis]), nested)
    return nested


def _offsets(at: Array) -> Any:
    return (at - at[0]).astype(np.int32)
