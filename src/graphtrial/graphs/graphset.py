"""Many graphs as flat columns, validated when built and memory-mapped from disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import InvalidGraphError, UnknownNameError, did_you_mean
from graphtrial.core.spec import digest
from graphtrial.graphs import storage
from graphtrial.graphs.column import PAIRS, Column, Level, check_column, check_pairs

Array = npt.NDArray[Any]

__all__ = ["Column", "GraphSet", "Level", "graph_ids", "ranges"]


class GraphSet:
    """Many graphs as flat columns.

    `node_ptr` and `edge_ptr` [graphs + 1] say which rows belong to which graph. `edge_index` [2, edges] holds node
    numbers *within* their graph, sorted by (target, source). `in_degree`, `out_degree` [nodes] and `out_order` [edges],
    the position within the graph of each edge in (source, target) order, make the sparse matrix of any batch available
    in both directions without sorting. Columns are named; `x`, `edge_attr` and `y` mean what they mean in PyG.
    """

    def __init__(self, structure: Mapping[str, Array], columns: Mapping[str, Column]) -> None:
        self.node_ptr = structure["node_ptr"]
        self.edge_ptr = structure["edge_ptr"]
        self.edge_index = structure["edge_index"]
        self.in_degree = structure["in_degree"]
        self.out_degree = structure["out_degree"]
        self.out_order = structure["out_order"]
        self.columns = dict(columns)

    @classmethod
    def build(
        cls,
        node_counts: npt.ArrayLike,
        edge_counts: npt.ArrayLike,
        edge_index: npt.ArrayLike,
        columns: Mapping[str, Column] | None = None,
    ) -> GraphSet:
        """Make a set from the sizes of its graphs and their edges, in any order within a graph.

        `edge_index` [2, edges] holds (source, target) numbered within each graph, graph after graph. Raises
        `InvalidGraphError` where sizes, indices or values contradict each other.
        """
        node_counts = _sizes(node_counts, "node_counts")
        edge_counts = _sizes(edge_counts, "edge_counts")
        if len(node_counts) != len(edge_counts):
            raise InvalidGraphError(f"{len(node_counts)} node counts but {len(edge_counts)} edge counts were given")
        node_ptr, edge_ptr = _pointers(node_counts), _pointers(edge_counts)
        try:
            edges = np.asarray(edge_index)
        except ValueError as error:
            raise InvalidGraphError(f"edge_index is not a table of integers: {error}") from None
        if edges.shape != (2, edge_ptr[-1]):
            raise InvalidGraphError(
                f"edge_index has shape {edges.shape}, but the edge counts ask for (2, {edge_ptr[-1]})"
            )
        if edges.size and edges.dtype.kind not in "iu":
            raise InvalidGraphError(f"edge_index has dtype {edges.dtype}; integers are needed")
        edges = edges.astype(np.int64)
        _check_ends(edges, edge_ptr, node_counts)

        graph_of_edge = np.repeat(np.arange(len(edge_counts)), edge_counts)
        first_node = node_ptr[graph_of_edge]
        width = int(node_counts.max(initial=0)) + 1
        order = np.argsort((first_node + edges[1]) * width + edges[0], kind="stable")
        edges = edges[:, order]
        out_order = np.argsort((first_node + edges[0]) * width + edges[1], kind="stable") - edge_ptr[graph_of_edge]
        total_nodes = int(node_ptr[-1])
        structure = {
            "node_ptr": storage.narrow(node_ptr),
            "edge_ptr": storage.narrow(edge_ptr),
            "edge_index": storage.narrow(edges),
            "in_degree": storage.narrow(np.bincount(first_node + edges[1], minlength=total_nodes)),
            "out_degree": storage.narrow(np.bincount(first_node + edges[0], minlength=total_nodes)),
            "out_order": storage.narrow(out_order),
        }
        made = cls(structure, {})
        given = dict(columns or {})
        size = made.size | {"pair": _pair_count(given)}
        check_pairs(given, size)
        for name, column in given.items():
            check_column(name, column, size)
            made.columns[name] = replace(column, values=column.values[order]) if column.level == "edge" else column
        return made

    @property
    def structure(self) -> dict[str, Array]:
        """The six arrays that say which node belongs where and which is joined to which."""
        names = ("node_ptr", "edge_ptr", "edge_index", "in_degree", "out_degree", "out_order")
        return {name: getattr(self, name) for name in names}

    @property
    def num_nodes(self) -> int:
        """The nodes of all graphs together."""
        return int(self.node_ptr[-1])

    @property
    def num_edges(self) -> int:
        """The directed edges of all graphs together."""
        return int(self.edge_ptr[-1])

    @property
    def node_counts(self) -> Array:
        """The number of nodes of each graph."""
        return np.diff(self.node_ptr)

    @property
    def edge_counts(self) -> Array:
        """The number of directed edges of each graph."""
        return np.diff(self.edge_ptr)

    @property
    def size(self) -> dict[Level, int]:
        """The number of nodes, edges, graphs and pairs."""
        return {
            "node": self.num_nodes,
            "edge": self.num_edges,
            "graph": len(self),
            "pair": _pair_count(self.columns),
        }

    def __len__(self) -> int:
        return len(self.node_ptr) - 1

    @property
    def shape(self) -> tuple[int]:
        """The number of graphs, as arrays say it: scikit-learn divides whatever has a shape by indexing it."""
        return (len(self),)

    def __getitem__(self, ids: Any) -> GraphSet:
        """Return some graphs as a set, named as NumPy names them: `[3]`, `[[0, 5]]`, `[mask]` or `[:100]`."""
        try:
            return self.subset(np.atleast_1d(np.arange(len(self))[ids]))
        except IndexError as error:
            raise InvalidGraphError(f"graphs of this set are numbered from 0 to {len(self) - 1}: {error}") from None

    def __repr__(self) -> str:
        names = ", ".join(f"{name} ({c.level})" for name, c in self.columns.items())
        return f"GraphSet({len(self)} graphs, {self.num_nodes} nodes, {self.num_edges} edges; {names})"

    def column(self, name: str) -> Column:
        """Return a column by name."""
        if name not in self.columns:
            raise UnknownNameError(
                f"no column '{name}'.{did_you_mean(name, self.columns)} "
                f"This set has: {', '.join(self.columns) or 'none'}."
            )
        return self.columns[name]

    def with_column(self, name: str, column: Column) -> GraphSet:
        """Return a set that shares everything with this one and has one column more (or replaced)."""
        columns = {**self.columns, name: column}
        size = self.size | {"pair": _pair_count(columns)}
        check_pairs(columns, size)
        check_column(name, column, size)
        return GraphSet(self.structure, columns)

    def subset(self, ids: npt.ArrayLike) -> GraphSet:
        """Return the graphs with these ids, in this order, as a set of their own."""
        chosen = graph_ids(ids, len(self))
        pairs = self.size["pair"]
        if pairs and len(chosen) != 1:
            raise InvalidGraphError("a set with pairs has a single graph, which cannot be left out or repeated")
        rows = {
            "node": ranges(self.node_ptr[chosen], self.node_counts[chosen]),
            "edge": ranges(self.edge_ptr[chosen], self.edge_counts[chosen]),
            "graph": chosen,
            "pair": np.arange(pairs),
        }
        structure = {
            "node_ptr": storage.narrow(_pointers(self.node_counts[chosen])),
            "edge_ptr": storage.narrow(_pointers(self.edge_counts[chosen])),
            "edge_index": self.edge_index[:, rows["edge"]],
            "in_degree": self.in_degree[rows["node"]],
            "out_degree": self.out_degree[rows["node"]],
            "out_order": self.out_order[rows["edge"]],
        }
        columns = {name: replace(c, values=c.values[rows[c.level]]) for name, c in self.columns.items()}
        return GraphSet(structure, columns)

    @cached_property
    def content_hash(self) -> str:
        """The SHA-256 over structure and columns: equal for equal graphs on every machine."""
        described = {name: storage.describe(array) for name, array in self.structure.items()}
        columns = {name: [c.level, c.meaning, c.types, storage.describe(c.values)] for name, c in self.columns.items()}
        return digest({"structure": described, "columns": columns})

    def save(self, folder: Path) -> None:
        """Write the set to `folder`, which appears complete or not at all."""
        arrays = dict(self.structure) | {f"column.{name}": c.values for name, c in self.columns.items()}
        columns = {name: {"level": c.level, "meaning": c.meaning, "types": c.types} for name, c in self.columns.items()}
        storage.save(folder, arrays, {"columns": columns})

    @classmethod
    def open(cls, folder: Path) -> GraphSet:
        """Memory-map a saved set; it takes no memory of its own, whatever its size.

        Every byte is compared with its checksum, which takes 0.6 s per GB; `CorruptFileError` says what is damaged.
        """
        arrays, about = storage.load(folder)
        columns = {name: Column(arrays[f"column.{name}"], **about["columns"][name]) for name in about["columns"]}
        return cls(arrays, columns)


def ranges(starts: Array, counts: Array) -> Array:
    """Return start, start + 1, ... start + count - 1 for each pair, one after the other."""
    ends = np.cumsum(counts, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - counts), counts) + np.arange(total)


def graph_ids(ids: npt.ArrayLike, graphs: int) -> npt.NDArray[np.int64]:
    """Return `ids` as an array, all of them numbers of graphs in a set of that many `graphs`."""
    array = np.asarray(ids)
    if array.ndim != 1:
        raise InvalidGraphError(f"graphs are asked for in a flat list of numbers, not in shape {array.shape}")
    if array.size and array.dtype.kind not in "iu":
        raise InvalidGraphError(f"graphs are asked for by integers, not by {array.dtype}")
    if array.size and (array.min() < 0 or array.max() >= graphs):
        wrong = array.min() if array.min() < 0 else array.max()
        size = f"{graphs} graphs, numbered from 0 to {graphs - 1}" if graphs else "no graphs"
        raise InvalidGraphError(f"graph {wrong} was asked for, but the set has {size}")
    return array.astype(np.int64, copy=False)


def _pair_count(columns: Mapping[str, Column]) -> int:
    return len(columns[PAIRS].values) if PAIRS in columns and columns[PAIRS].values.ndim else 0


def _sizes(counts: npt.ArrayLike, name: str) -> Array:
    array = np.asarray(counts)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidGraphError(f"{name} must be a flat list of integers, not shape {array.shape} of {array.dtype}")
    if array.size and array.min() < 0:
        raise InvalidGraphError(f"{name} has a negative entry for graph {int(array.argmin())}")
    return array.astype(np.int64)


def _pointers(counts: Array) -> Array:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def _check_ends(edges: Array, edge_ptr: Array, node_counts: Array) -> None:
    limit = np.repeat(node_counts, np.diff(edge_ptr))
    wrong = ((edges < 0) | (edges >= limit)).any(axis=0)
    if wrong.any():
        edge = int(np.argmax(wrong))
        graph = int(np.searchsorted(edge_ptr, edge, side="right")) - 1
        raise InvalidGraphError(
            f"graph {graph} has {node_counts[graph]} nodes, but an edge {edges[0, edge]} -> {edges[1, edge]}"
        )
