"""Graphs given as records, one per graph: the format of JSON lines and of Parquet files.

    {"nodes": 3, "edges": [[0, 1], [1, 2]], "x": [0, 2, 1], "edge_attr": [[0.5], [1.5]], "y": 1, "split": "train"}

`nodes` is the number of nodes, `edges` holds [source, target] pairs numbered from 0. Optional, but then in every
record: `x` and `edge_attr`, per node and per edge a category (a whole number from 0) or a list of numbers; `y`, the
target of the graph, `node_y` or `edge_y`, a list of targets of its nodes or edges (one of the three): whole numbers are
classes, others regressed; `split`, which is `train`, `val`, `test` or `none`, or for a single graph a list of these,
one per node.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.errors import CorruptFileError, did_you_mean
from graphtrial.graphs import Column, GraphSet
from graphtrial.graphs.column import Level

Array = npt.NDArray[Any]
PARTS = ("train", "val", "test", "none")
LEVELS: dict[str, Level] = {
    "x": "node",
    "edge_attr": "edge",
    "y": "graph",
    "node_y": "node",
    "edge_y": "edge",
}
TARGETS = ("y", "node_y", "edge_y")
LIMIT = 2**31


def graphs_of(records: Iterable[tuple[str, Any]], what: str, *, both_ways: bool = False) -> GraphSet:
    """Make a set of records, each with the words that say where it is, such as "line 3"; `what` names the file.

    With `both_ways` the other direction of every edge is added, with the same features.
    """
    table = _Table(what, both_ways)
    for where, record in records:
        table.add(where, record)
    return table.made()


class _Table:
    def __init__(self, what: str, both_ways: bool) -> None:
        self.what, self.both_ways = what, both_ways
        self.nodes: list[int] = []
        self.edges: list[int] = []
        self.ends: list[Array] = []
        self.values: dict[str, list[Array]] = {}
        self.parts: list[Any] = []
        self.first: set[str] = set()

    def add(self, where: str, record: Any) -> None:
        """Add one graph; the error for a bad one says which line and why."""
        if not isinstance(record, Mapping):
            raise self._wrong(where, f"a record of named values was expected, not {type(record).__name__}")
        record = {key: value for key, value in record.items() if value is not None}
        known = ("nodes", "edges", "split", *LEVELS)
        for key in record:
            if key not in known:
                raise self._wrong(where, f"'{key}' is not known.{did_you_mean(str(key), known)}")
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
        ends = self._ends(where, record["edges"], nodes)
        counts = {"node": nodes, "edge": len(ends), "graph": 1}
        for name in sorted(self.first - {"nodes", "edges", "split"}):
            values = [record[name]] if LEVELS[name] == "graph" else record[name]
            self._add_values(where, name, values, counts[LEVELS[name]])
        if "split" in self.first:
            self._add_part(where, record["split"], nodes)
        loops = ends[:, 0] == ends[:, 1]
        self.nodes.append(nodes)
        self.edges.append(len(ends) + (int((~loops).sum()) if self.both_ways else 0))
        self.ends.append(np.concatenate([ends, ends[~loops, ::-1]]) if self.both_ways else ends)
        if self.both_ways:
            for name in ("edge_attr", "edge_y"):
                if name in self.values:
                    self.values[name][-1] = np.concatenate([self.values[name][-1], self.values[name][-1][~loops]])

    def made(self) -> GraphSet:
        if not self.nodes:
            raise CorruptFileError(f"{self.what} holds no graphs")
        columns = {}
        for name, arrays in self.values.items():
            values = self._joined(name, arrays)
            target = "y" if name in TARGETS else name
            columns[target] = Column(values, LEVELS[name], f"{name} of the file", types=_types(values))
        if self.parts:
            level: Level = "graph" if isinstance(self.parts[0], int) else "node"
            part = np.array(self.parts if level == "graph" else self.parts[0], np.uint8)
            columns["part"] = Column(part, level, "train, val, test or none", types=len(PARTS))
        if "x" not in columns:
            columns["x"] = Column(np.ones(sum(self.nodes), np.float32), "node", "constant, because none was given")
        return GraphSet.build(self.nodes, self.edges, np.concatenate(self.ends).T, columns)

    def _whole(self, where: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < LIMIT:
            raise self._wrong(where, f"'nodes' must be the number of nodes, not {_short(value)}")
        return value

    def _ends(self, where: str, value: Any, nodes: int) -> npt.NDArray[np.int64]:
        array = self._array(where, "edges", value)
        if not array.size:
            return np.zeros((0, 2), np.int64)
        if array.dtype.kind not in "iu" or array.ndim != 2 or array.shape[1] != 2:
            raise self._wrong(where, "'edges' must be a list of [source, target] pairs of whole numbers")
        outside = ((array < 0) | (array >= nodes)).any(axis=1)
        if outside.any():
            pair = array[int(np.argmax(outside))].tolist()
            raise self._wrong(where, f"edge {pair} leaves the {nodes} nodes, which are numbered from 0")
        return array.astype(np.int64)

    def _add_values(self, where: str, name: str, values: Any, count: int) -> None:
        array = self._array(where, name, values)
        if array.size and (array.dtype.kind not in "iuf" or array.ndim > 2):
            raise self._wrong(where, f"'{name}' must hold numbers, or lists of numbers")
        if len(array) != count:
            raise self._wrong(where, f"'{name}' has {len(array)} rows for {count} {LEVELS[name]}s")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise self._wrong(where, f"'{name}' holds a number that is not finite")
        others = self.values.setdefault(name, [])
        if array.size and others and others[0].size and others[0].shape[1:] != array.shape[1:]:
            raise self._wrong(where, f"'{name}' has {_width(array)} numbers per row, {_width(others[0])} before")
        others.append(array)

    def _add_part(self, where: str, value: Any, nodes: int) -> None:
        words = [value] if isinstance(value, str) else value
        if not isinstance(words, list) or not all(isinstance(word, str) and word in PARTS for word in words):
            raise self._wrong(where, f"'split' must be one of {', '.join(PARTS)}, not {_short(value)}")
        if isinstance(value, list) and (len(value) != nodes or self.nodes):
            raise self._wrong(where, "'split' can be a list, one entry per node, for a single graph only")
        if isinstance(value, str) and self.parts and not isinstance(self.parts[0], int):
            raise self._wrong(where, "'split' is a list in the first graph, which must then be the only one")
        self.parts.append(PARTS.index(value) if isinstance(value, str) else [PARTS.index(word) for word in words])

    def _array(self, where: str, name: str, value: Any) -> Array:
        if not isinstance(value, list):
            raise self._wrong(where, f"'{name}' must be a list, not {_short(value)}")
        try:
            array = np.array(value) if value else np.zeros(0, np.int64)
        except (ValueError, OverflowError, TypeError) as error:
            raise self._wrong(where, f"'{name}' is no table of numbers: its rows differ in length") from error
        if array.dtype.kind not in "biuf" or array.dtype.kind == "b":
            raise self._wrong(where, f"'{name}' must hold numbers only")
        return array

    def _joined(self, name: str, arrays: list[Array]) -> Array:
        full = [array for array in arrays if array.size]
        if not full:
            return np.zeros(sum(map(len, arrays)), np.float32)
        values = np.concatenate(full)
        return values.astype(np.float32) if values.dtype.kind == "f" else values

    def _wrong(self, where: str, why: str) -> CorruptFileError:
        return CorruptFileError(f"{self.what}, {where}: {why}")


def _types(values: Array) -> int | None:
    """Return the number of categories where rows are single whole numbers from 0, else nothing."""
    if values.dtype.kind not in "iu" or values.ndim > 1 or (values.size and values.min() < 0):
        return None
    return int(values.max(initial=0)) + 1


def _width(array: Array) -> int:
    return math.prod(array.shape[1:])


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
