"""Graphs as records, one per graph: the format of JSON lines and Parquet files.

    {"nodes": 3, "edges": [[0, 1], [1, 2]], "x": [0, 2, 1], "edge_attr": [[0.5], [1.5]], "y": 1, "split": "train"}

`nodes` is the number of nodes, `edges` holds [source, target] pairs numbered from 0. Optional, but then in every
record: `x` and `edge_attr`, per node and per edge a category (an integer from 0) or a list of numbers; `y`, the
target of the graph, `node_y` or `edge_y`, a list of targets of its nodes or edges (one of the three): integers are
classes, others regressed; `split`, which is `train`, `val`, `test` or `none`, or for a single graph a list of these,
one per node, edge or pair that has a target, or another mask, see `graphs.mask_names`; `edge_time`, a number per
edge; `pairs`, a list of [source, target] with a label each in `pair_y`, 1 for a link, and for a single graph `query`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError, InvalidGraphError, did_you_mean, short_repr
from graphtrial.datasets.custom.importers import check_size
from graphtrial.graphs import Column, GraphSet
from graphtrial.graphs.column import PAIR_COUNT, PAIRS, QUERY, Level
from graphtrial.graphs.mask_names import PART, parse_mask_name
from graphtrial.graphs.masks import check_mask_value, part_column

Array = npt.NDArray[Any]
LEVELS: dict[str, Level] = {
    "x": "node",
    "edge_attr": "edge",
    "y": "graph",
    "node_y": "node",
    "edge_y": "edge",
    "edge_time": "edge",
    "pair_y": "pair",
    QUERY: "pair",
}
TARGETS = ("y", "node_y", "edge_y", "pair_y")
LIMIT = 2**31


def graphs_from_records(records: Iterable[tuple[str, Any]], subject: str, *, both_ways: bool = False) -> GraphSet:
    """Build a graph set from pairs of location, such as "line 3", and record; `subject` is the file name in errors.

    With `both_ways` the reverse of every edge is added, with the same features.
    """
    builder = _Builder(subject, both_ways)
    for where, record in records:
        builder.add(where, record)
    return builder.build()


class _Builder:
    def __init__(self, subject: str, both_ways: bool) -> None:
        self.subject, self.both_ways = subject, both_ways
        self.total = 0
        self.nodes: list[int] = []
        self.edges: list[int] = []
        self.ends: list[Array] = []
        self.pairs: list[Array] = []
        self.values: dict[str, list[Array]] = {}
        self.parts: dict[str, list[Any]] = {}
        self.first: set[str] = set()

    def add(self, where: str, record: Any) -> None:
        """Add one graph; raises CorruptFileError with location and reason for an invalid record."""
        if not isinstance(record, Mapping):
            raise self._wrong(where, f"a record of named values was expected, not {type(record).__name__}")
        record = {key: value for key, value in record.items() if value is not None}
        allowed = ("nodes", "edges", "split", "train_mask", "val_mask", "test_mask", PAIRS, *LEVELS)
        masks = {key for key in record if self._is_mask(where, key)}
        for key in record:
            if key not in allowed and key not in masks:
                raise self._wrong(where, f"'{key}' is not known.{did_you_mean(str(key), allowed)}")
        if not self.nodes:
            self.first = set(record)
            if sum(name in record for name in TARGETS) > 1:
                raise self._wrong(where, f"only one of {', '.join(TARGETS)} can be the target")
        for key in ("nodes", "edges", *sorted(self.first ^ set(record))):
            if key not in record:
                raise self._wrong(where, f"'{key}' is missing")
            if self.nodes and key not in self.first:
                raise self._wrong(where, f"'{key}' is here, but not in the first graph")
        nodes = self._whole(where, record["nodes"])
        self.total += nodes
        check_size(self.total, f"{self.subject}, up to {where},")
        ends = self._ends(where, "edges", record["edges"], nodes)
        if (PAIRS in record) != ("pair_y" in record):
            raise self._wrong(where, f"'{PAIRS}' and 'pair_y' are needed together")
        pairs = self._ends(where, PAIRS, record.get(PAIRS, []), nodes)
        self.pairs.append(pairs)
        counts = {"node": nodes, "edge": len(ends), "graph": 1, "pair": len(pairs)}
        for name in sorted(self.first - {"nodes", "edges", PAIRS} - masks):
            values = [record[name]] if LEVELS[name] == "graph" else record[name]
            self._add_values(where, name, values, counts[LEVELS[name]])
        loops = ends[:, 0] == ends[:, 1]
        for name in sorted(masks):
            self._add_part(where, name, record[name], ~loops)
        self.nodes.append(nodes)
        self.edges.append(len(ends) + (int((~loops).sum()) if self.both_ways else 0))
        self.ends.append(np.concatenate([ends, ends[~loops, ::-1]]) if self.both_ways else ends)
        if self.both_ways:
            for name in ("edge_attr", "edge_y", "edge_time"):
                if name in self.values:
                    self.values[name][-1] = np.concatenate([self.values[name][-1], self.values[name][-1][~loops]])

    def build(self) -> GraphSet:
        if not self.nodes:
            raise CorruptFileError(f"{self.subject} holds no graphs")
        columns = {}
        for name, arrays in self.values.items():
            values = self._concatenate(arrays)
            columns["y" if name in TARGETS else name] = Column(
                values,
                LEVELS[name],
                f"{name} of the file",
                types=None if name in ("edge_time", QUERY) else _types(values),
            )
        target = columns["y"].level if "y" in columns else None
        pairs = np.array([len(rows) for rows in self.pairs]) if target == "pair" else None
        if pairs is not None:
            columns[PAIRS] = Column(np.concatenate(self.pairs).astype(np.int32), "pair", "two nodes")
            columns |= {PAIR_COUNT: Column(pairs, "graph", "number of its pairs")} if len(pairs) > 1 else {}
        try:
            part = part_column(self.parts, np.array(self.nodes), np.array(self.edges), target, pairs)
        except InvalidGraphError as error:
            raise CorruptFileError(f"{self.subject}: {error}") from error
        if part is not None:
            columns[PART] = part
        if "x" not in columns:
            columns["x"] = Column(np.ones(sum(self.nodes), np.float32), "node", "constant, because none was given")
        return GraphSet.build(self.nodes, self.edges, np.concatenate(self.ends).T, columns)

    def _whole(self, where: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < LIMIT:
            raise self._wrong(where, f"'nodes' must be the number of nodes, not {_short(value)}")
        return value

    def _ends(self, where: str, name: str, value: Any, nodes: int) -> npt.NDArray[np.int64]:
        array = self._array(where, name, value)
        if not array.size:
            return np.zeros((0, 2), np.int64)
        if array.dtype.kind not in "iu" or array.ndim != 2 or array.shape[1] != 2:
            raise self._wrong(where, f"'{name}' must be a list of [source, target] pairs of integers")
        outside = ((array < 0) | (array >= nodes)).any(axis=1)
        if outside.any():
            pair = array[int(np.argmax(outside))].tolist()
            raise self._wrong(where, f"{name[:-1]} {pair} leaves the {nodes} nodes, which are numbered from 0")
        return array.astype(np.int64)

    def _add_values(self, where: str, name: str, values: Any, count: int) -> None:
        array = self._array(where, name, _with_missing(values) if name in TARGETS else values)
        if array.size and (array.dtype.kind not in "iuf" or array.ndim > 2):
            raise self._wrong(where, f"'{name}' must hold numbers, or lists of numbers")
        if len(array) != count:
            raise self._wrong(where, f"'{name}' has {len(array)} rows for {count} {LEVELS[name]}s")
        if not (np.isfinite(array) | (np.isnan(array) if name in TARGETS else False)).all():
            raise self._wrong(where, f"'{name}' holds a number that is not finite")
        others = self.values.setdefault(name, [])
        if array.size and others and others[0].size and others[0].shape[1:] != array.shape[1:]:
            raise self._wrong(where, f"'{name}' has {_width(array)} numbers per row, {_width(others[0])} before")
        others.append(array)

    def _is_mask(self, where: str, name: Any) -> bool:
        try:
            return isinstance(name, str) and parse_mask_name(name) is not None
        except InvalidGraphError as error:
            raise self._wrong(where, str(error)) from error

    def _add_part(self, where: str, name: str, value: Any, reversed_edges: npt.NDArray[np.bool_]) -> None:
        try:
            check_mask_value(name, value)
        except InvalidGraphError as error:
            raise self._wrong(where, str(error)) from error
        if self.both_ways and "edge_y" in self.first and isinstance(value, list) and len(value) == len(reversed_edges):
            value = [*value, *(part for part, added in zip(value, reversed_edges, strict=True) if added)]
        self.parts.setdefault(name, []).append(value)

    def _array(self, where: str, name: str, value: Any) -> Array:
        if not isinstance(value, list):
            raise self._wrong(where, f"'{name}' must be a list, not {_short(value)}")
        try:
            array = np.array(value) if value else np.zeros(0, np.int64)
        except (ValueError, OverflowError, TypeError) as error:
            raise self._wrong(where, f"'{name}' is not a table of numbers: its rows differ in length") from error
        if array.dtype.kind not in "biuf" or array.dtype.kind == "b":
            raise self._wrong(where, f"'{name}' must hold numbers only")
        return array

    def _concatenate(self, arrays: list[Array]) -> Array:
        full = [array for array in arrays if array.size]
        if not full:
            return np.zeros(sum(map(len, arrays)), np.float32)
        values = np.concatenate(full)
        return values.astype(np.float32) if values.dtype.kind == "f" else values

    def _wrong(self, where: str, why: str) -> CorruptFileError:
        return CorruptFileError(f"{self.subject}, {where}: {why}")


def _types(values: Array) -> int | None:
    """Return the number of categories of a vector of non-negative integers, else None."""
    if values.dtype.kind not in "iu" or values.ndim > 1 or (values.size and values.min() < 0):
        return None
    return int(values.max(initial=0)) + 1


def _with_missing(values: Any) -> Any:
    """Replace missing labels (null) by NaN."""
    if isinstance(values, list):
        return [_with_missing(value) for value in values]
    return math.nan if values is None else values


def _width(array: Array) -> int:
    return math.prod(array.shape[1:])


def _short(value: Any) -> str:
    return short_repr(value, 37)
