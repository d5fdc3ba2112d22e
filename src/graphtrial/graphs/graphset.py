"""`GraphSet`: many graphs as flat arrays, validated when built and memory-mapped from disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import InvalidGraphError, UnknownNameError, did_you_mean
from graphtrial.core.spec import digest
from graphtrial.graphs import storage
from graphtrial.graphs.column import PAIR_COUNT, PAIRS, Column, Level, check_column, check_pairs
from graphtrial.graphs.pointers import check_counts, graph_ids, ranges, to_pointers

if TYPE_CHECKING:
    from graphtrial.graphs.batch import GraphBatch

Array = npt.NDArray[Any]

__all__ = ["Column", "GraphSet", "Level"]


class GraphSet:
    """Many graphs as flat arrays.

    - `node_ptr`, `edge_ptr` [graphs + 1]: the rows of graph g are `ptr[g]` to `ptr[g + 1]`;
    - `edge_index` [2, edges]: node indices *within* the graph, sorted by (target, source);
    - `in_degree`, `out_degree` [nodes];
    - `out_order` [edges]: permutation within each graph into (source, target) order, so that the CSR and CSC forms of
      any batch need no sorting;
    - `columns`: features and labels by name; `x`, `edge_attr` and `y` mean what they mean in PyG.
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
        """Build a set from graph sizes and edges; the edges of a graph may be in any order.

        `edge_index` [2, edges] holds (source, target) indices within each graph, graph after graph. Raises
        `InvalidGraphError` where sizes, indices or values contradict each other.
        """
        node_counts = check_counts(node_counts, "node_counts")
        edge_counts = check_counts(edge_counts, "edge_counts")
        if len(node_counts) != len(edge_counts):
            raise InvalidGraphError(f"{len(node_counts)} node counts but {len(edge_counts)} edge counts were given")
        node_ptr, edge_ptr = to_pointers(node_counts), to_pointers(edge_counts)
        edges = _check_edge_index(edge_index, edge_ptr, node_counts)

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
        graphs = cls(structure, {})
        unsorted = dict(columns or {})
        size = graphs.size | {"pair": _pair_count(unsorted)}
        check_pairs(unsorted, size, node_counts)
        for name, column in unsorted.items():
            check_column(name, column, size)
            graphs.columns[name] = replace(column, values=column.values[order]) if column.level == "edge" else column
        return graphs

    @property
    def structure(self) -> dict[str, Array]:
        """The six structure arrays by name, without the columns."""
        names = ("node_ptr", "edge_ptr", "edge_index", "in_degree", "out_degree", "out_order")
        return {name: getattr(self, name) for name in names}

    @property
    def num_nodes(self) -> int:
        """Total number of nodes."""
        return int(self.node_ptr[-1])

    @property
    def num_edges(self) -> int:
        """Total number of directed edges."""
        return int(self.edge_ptr[-1])

    @property
    def node_counts(self) -> Array:
        """Number of nodes of each graph, [graphs]."""
        return np.diff(self.node_ptr)

    @property
    def edge_counts(self) -> Array:
        """Number of directed edges of each graph, [graphs]."""
        return np.diff(self.edge_ptr)

    @cached_property
    def pair_ptr(self) -> Array:
        """The pairs of graph g are `pair_ptr[g]` to `pair_ptr[g + 1]`, [graphs + 1]."""
        if PAIR_COUNT in self.columns and PAIRS in self.columns:
            return to_pointers(np.asarray(self.columns[PAIR_COUNT].values))
        pairs = self.size["pair"]
        return np.array([0, pairs]) if pairs else np.zeros(len(self) + 1, np.int64)

    @property
    def size(self) -> dict[Level, int]:
        """Number of rows per level: nodes, edges, graphs and pairs."""
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
        """`(graphs,)`: scikit-learn indexes anything with a shape when it splits data."""
        return (len(self),)

    def __getitem__(self, ids: Any) -> GraphSet:
        """Return a subset by any NumPy index: `[3]`, `[[0, 5]]`, `[mask]` or `[:100]`."""
        try:
            return self.subset(np.atleast_1d(np.arange(len(self))[ids]))
        except IndexError as error:
            raise InvalidGraphError(f"graphs of this set have indices 0 to {len(self) - 1}: {error}") from None

    def __iter__(self) -> Iterator[GraphBatch]:
        """Iterate over the graphs, each as a batch of one, with PyG's attribute names."""
        from graphtrial.graphs.batch import GraphBatch

        return (GraphBatch.from_set(self, [index]) for index in range(len(self)))

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
        """Return a shallow copy with the column `name` added or replaced."""
        columns = {**self.columns, name: column}
        size = self.size | {"pair": _pair_count(columns)}
        check_pairs(columns, size, self.node_counts)
        check_column(name, column, size)
        return GraphSet(self.structure, columns)

    def subset(self, ids: npt.ArrayLike) -> GraphSet:
        """Return the graphs with these indices, in this order, as a set of their own."""
        index = graph_ids(ids, len(self))
        if self.size["pair"] and PAIR_COUNT not in self.columns and len(index) != 1:
            raise InvalidGraphError("a set with pairs has a single graph, which cannot be left out or repeated")
        rows = {
            "node": ranges(self.node_ptr[index], self.node_counts[index]),
            "edge": ranges(self.edge_ptr[index], self.edge_counts[index]),
            "graph": index,
        }
        if PAIRS in self.columns:
            rows["pair"] = ranges(self.pair_ptr[index], self.pair_ptr[index + 1] - self.pair_ptr[index])
        structure = {
            "node_ptr": storage.narrow(to_pointers(self.node_counts[index])),
            "edge_ptr": storage.narrow(to_pointers(self.edge_counts[index])),
            "edge_index": self.edge_index[:, rows["edge"]],
            "in_degree": self.in_degree[rows["node"]],
            "out_degree": self.out_degree[rows["node"]],
            "out_order": self.out_order[rows["edge"]],
        }
        columns = {name: replace(c, values=c.values[rows[c.level]]) for name, c in self.columns.items()}
        return GraphSet(structure, columns)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of structure and columns; the same on every machine."""
        described = {name: storage.describe(array) for name, array in self.structure.items()}
        columns = {name: [c.level, c.meaning, c.types, storage.describe(c.values)] for name, c in self.columns.items()}
        return digest({"structure": described, "columns": columns})

    def save(self, folder: Path) -> None:
        """Write the set to `folder` atomically."""
        arrays = dict(self.structure) | {f"column.{name}": c.values for name, c in self.columns.items()}
        columns = {name: {"level": c.level, "meaning": c.meaning, "types": c.types} for name, c in self.columns.items()}
        storage.save(folder, arrays, {"columns": columns})

    @classmethod
    def open(cls, folder: Path) -> GraphSet:
        """Memory-map a saved set.

        Verifies the checksum of every array (0.6 s per GB) and raises `CorruptFileError` where one does not match.
        """
        arrays, about = storage.load(folder)
        columns = {name: Column(arrays[f"column.{name}"], **about["columns"][name]) for name in about["columns"]}
        return cls(arrays, columns)


def _pair_count(columns: Mapping[str, Column]) -> int:
    return len(columns[PAIRS].values) if PAIRS in columns and columns[PAIRS].values.ndim else 0


def _check_edge_index(edge_index: npt.ArrayLike, edge_ptr: Array, node_counts: Array) -> Array:
    try:
        edges = np.asarray(edge_index)
    except ValueError as error:
        raise InvalidGraphError(f"edge_index is not an array of integers: {error}") from None
    if edges.shape != (2, edge_ptr[-1]):
        raise InvalidGraphError(f"edge_index has shape {edges.shape}, but edge_counts sum to {edge_ptr[-1]}")
    if edges.size and edges.dtype.kind not in "iu":
        raise InvalidGraphError(f"edge_index has dtype {edges.dtype}; integers are needed")
    edges = edges.astype(np.int64)
    limit = np.repeat(node_counts, np.diff(edge_ptr))
    wrong = ((edges < 0) | (edges >= limit)).any(axis=0)
    if wrong.any():
        edge = int(np.argmax(wrong))
        graph = int(np.searchsorted(edge_ptr, edge, side="right")) - 1
        raise InvalidGraphError(
            f"graph {graph} has {node_counts[graph]} nodes, but an edge {edges[0, edge]} -> {edges[1, edge]}"
        )
    return edges
