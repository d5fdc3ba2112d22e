"""Some graphs of a set joined into one, with the sparse matrix in both directions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from graphtrial.graphs.graphset import GraphSet, graph_ids

T = TypeVar("T")
CHOSEN = "chosen"
"""The column with the numbers of the nodes that a batch asks about; without it, it asks about all."""


class GraphBatch:
    """Some graphs joined into one disconnected graph.

    Has PyG's attribute names: `x`, `edge_index`, `edge_attr`, `y`, `batch` (the graph of each node), `ptr`,
    `num_graphs`; every other column of the set is an attribute too. Edges are sorted by (target, source):

    - the in-edges of node i are the edges `in_ptr[i]` to `in_ptr[i + 1]`;
    - its out-edges are `out_order[out_ptr[i]]` to `out_order[out_ptr[i + 1] - 1]`.
    """

    def __init__(self, structure: Mapping[str, Tensor], columns: Mapping[str, Tensor], num_graphs: int) -> None:
        self._structure = dict(structure)
        self.columns = dict(columns)
        self.num_graphs = num_graphs
        self._memory: dict[str, Any] = {}
        self.edge_index = self._structure["edge_index"]
        self.batch = self._structure["batch"]
        self.ptr = self._structure["ptr"]
        self.in_ptr = self._structure["in_ptr"]
        self.out_ptr = self._structure["out_ptr"]
        self.out_order = self._structure["out_order"]
        self.in_degree = self._structure["in_degree"]
        self.out_degree = self._structure["out_degree"]

    @classmethod
    def from_set(cls, graphs: GraphSet, ids: npt.ArrayLike) -> GraphBatch:
        """Join the graphs with these ids, in this order."""
        from graphtrial.graphs.collate import join  # numba takes a moment to import, and many commands need no batch

        chosen = graph_ids(ids, len(graphs))
        set_structure = [np.asarray(array) for array in graphs.structure.values()]
        node_ptr, edge_ptr = set_structure[:2]
        nodes = int((node_ptr[chosen + 1] - node_ptr[chosen]).sum())
        edges = int((edge_ptr[chosen + 1] - edge_ptr[chosen]).sum())
        ptr = np.empty(len(chosen) + 1, np.int64)
        of_nodes, of_edges = np.empty((6, nodes + 1), np.int64), np.empty((4, edges), np.int64)
        join(chosen, *set_structure, ptr, of_nodes, of_edges)
        rows = {"node": of_nodes[0, :nodes], "edge": of_edges[0], "graph": chosen}
        structure = {
            "edge_index": of_edges[1:3],
            "batch": of_nodes[1, :nodes],
            "ptr": ptr,
            "in_ptr": of_nodes[4],
            "out_ptr": of_nodes[5],
            "out_order": of_edges[3],
            "in_degree": of_nodes[2, :nodes],
            "out_degree": of_nodes[3, :nodes],
        }
        columns = {
            name: _tensor(np.asarray(c.values).take(rows[c.level], axis=0))
            for name, c in graphs.columns.items()
            if c.level != "pair"  # pairs are drawn, some at a time, by their own loader
        }
        return cls({name: torch.from_numpy(a) for name, a in structure.items()}, columns, len(chosen))

    @property
    def num_nodes(self) -> int:
        """The nodes of all graphs of the batch."""
        return self.batch.shape[0]

    @property
    def num_edges(self) -> int:
        """The directed edges of all graphs of the batch."""
        return self.edge_index.shape[1]

    @property
    def x(self) -> Tensor | None:
        """The node features."""
        return self.columns.get("x")

    @property
    def edge_attr(self) -> Tensor | None:
        """The edge features."""
        return self.columns.get("edge_attr")

    @property
    def y(self) -> Tensor | None:
        """The target."""
        return self.columns.get("y")

    def __getattr__(self, name: str) -> Tensor:
        columns = self.__dict__.get("columns", {})
        if name in columns:
            return columns[name]
        raise AttributeError(f"this GraphBatch has no '{name}'; its columns are {', '.join(columns) or 'none'}")

    def __repr__(self) -> str:
        columns = ", ".join(f"{name}={list(value.shape)}" for name, value in self.columns.items())
        return f"GraphBatch({self.num_graphs} graphs, {self.num_nodes} nodes, {self.num_edges} edges; {columns})"

    def with_column(self, name: str, values: Tensor) -> GraphBatch:
        """Return a batch that shares everything with this one and has one column more (or replaced)."""
        return self.with_columns({**self.columns, name: values})

    def with_columns(self, columns: Mapping[str, Tensor]) -> GraphBatch:
        """Return a batch of the same structure with these columns instead."""
        made = GraphBatch(self._structure, columns, self.num_graphs)
        made._memory = self._memory  # it depends on the structure alone
        return made

    def asked(self, rows: Tensor) -> Tensor:
        """Return those rows, one per node or edge, that the batch asks about: all of them unless some were chosen."""
        chosen = self.columns.get(CHOSEN)
        return rows if chosen is None else rows.index_select(0, chosen)

    def remember(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` computes from the structure of the batch, computed only the first time."""
        if name not in self._memory:
            self._memory[name] = make()
        return self._memory[name]

    def to(self, device: Any) -> GraphBatch:
        """Return the batch on another device."""
        moved = {name: value.to(device) for name, value in self._structure.items()}
        return GraphBatch(moved, {name: value.to(device) for name, value in self.columns.items()}, self.num_graphs)


def _tensor(values: npt.NDArray[Any]) -> Tensor:
    # PyG and torch index with 64-bit numbers; features stored in half precision are computed in single.
    if values.dtype.kind in "iu":
        return torch.from_numpy(values.astype(np.int64))
    return torch.from_numpy(values.astype(np.float32) if values.dtype == np.float16 else values)
