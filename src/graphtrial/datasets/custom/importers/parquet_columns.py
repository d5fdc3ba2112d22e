"""Parquet files with a description of their columns, written by `graphtrial data export`: exact arrays.

A reader that does not know the description sees the `graphs-datasets` layout, with further columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.datasets.custom.importers import check_size
from graphtrial.graphs import Column, GraphSet
from graphtrial.graphs.mask_names import PARTS

Array = npt.NDArray[Any]
METADATA = b"graphtrial"
FORMAT = 1
BUILT = ("edge_index", "num_nodes")
DTYPES = {"bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)), "float32", "float64"}
DTYPES |= {"float16"}


def graphs_from_columns(batches: Iterable[Any], description: bytes, subject: str) -> GraphSet:
    """Build the graph set that was exported; the description has level, dtype, shape and types of each column."""
    try:
        columns = _check(json.loads(description))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise CorruptFileError(f"{subject}: the description of its columns is not readable ({error!r})") from error
    parts: dict[str, list[Array]] = {name: [] for name in (*columns, *BUILT)}
    counts: list[Array] = []
    total = 0
    try:
        for batch in batches:
            nodes = _flat(batch.column("num_nodes"))
            ends, sizes = _edges(batch.column("edge_index"))
            total += int(nodes.sum())
            check_size(total, subject)
            parts["num_nodes"].append(nodes)
            parts["edge_index"].append(ends)
            counts.append(sizes)
            for name, facts in columns.items():
                values = _flat(batch.column(name))
                shape = (-1, *facts["shape"])
                parts[name].append(_as(values, facts["dtype"]).reshape(shape))
        built = {
            facts["name"]: Column(np.concatenate(parts[name]), facts["level"], facts["meaning"], facts["types"])
            for name, facts in columns.items()
        }
        ends = np.concatenate(parts["edge_index"], axis=1)
        return GraphSet.build(np.concatenate(parts["num_nodes"]), np.concatenate(counts), ends, built)
    except (KeyError, ValueError, TypeError, OverflowError, IndexError) as error:
        raise CorruptFileError(f"{subject} does not fit the description of its columns: {error}") from error
    except GraphTrialError as error:
        raise CorruptFileError(f"{subject}: {error}") from error


def _check(description: Any) -> dict[str, dict[str, Any]]:
    if description["format"] != FORMAT:
        raise ValueError(f"format {description['format']}; this version reads {FORMAT}")
    columns: dict[str, dict[str, Any]] = description["columns"]
    for facts in columns.values():
        shape, types = facts["shape"], facts["types"]
        whole = all(type(size) is int and 0 < size < 1 << 20 for size in shape)
        if not whole or len(shape) > 8 or facts["dtype"] not in DTYPES or not (types is None or type(types) is int):
            raise ValueError("a column has another shape, dtype or number of types")
        if not all(isinstance(facts[key], str) for key in ("name", "level", "meaning")):
            raise TypeError("name, level and meaning are texts")
    return columns


def _edges(column: Any) -> tuple[Array, Array]:
    """Return the edges [2, edges] of the rows, each a list of sources and one of targets, and their numbers."""
    if any(length != 2 for length in column.value_lengths().to_pylist()):
        raise ValueError("edge_index has two lists, sources and targets")
    lists = column.flatten()
    lengths = np.asarray(lists.value_lengths().to_pylist(), np.int64).reshape(-1, 2)
    if (lengths[:, 0] != lengths[:, 1]).any():
        raise ValueError("edge_index has as many sources as targets")
    values, sizes = _flat(lists), lengths[:, 0]
    source = np.repeat(np.tile([True, False], len(sizes)), lengths.reshape(-1))
    return np.stack([values[source], values[~source]]), sizes


def _flat(column: Any) -> Array:
    """Return the numbers, or words, of nested lists as a flat array."""
    while hasattr(column, "flatten") and hasattr(column, "value_lengths"):
        column = column.flatten()
    if column.null_count:
        raise ValueError("a value is missing")
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _as(values: Array, dtype: str) -> Array:
    if values.dtype == object:  # words of a split
        index_of = {part: number for number, part in enumerate(PARTS)}
        return np.array([index_of[word] for word in values], dtype)
    return values.astype(dtype, casting="same_kind" if values.dtype.kind == "f" else "unsafe")
