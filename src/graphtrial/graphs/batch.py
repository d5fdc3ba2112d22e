"""Mini-batch of graphs, collated into one disconnected graph with CSC and CSR pointers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from graphtrial.graphs.column import PAIR_COUNT, PAIRS
from graphtrial.graphs.graphset import GraphSet
from graphtrial.graphs.pointers import graph_ids, ranges

T = TypeVar("T")
TARGET_INDEX = "target_index"
"""Column with the indices of the nodes or edges that loss and metrics are taken over; without it, all of them are."""


class GraphBatch:
    """Mini-batch: several graphs as one disconnected graph.

    Has PyG's attribute names: `x`, `edge_index`, `edge_attr`, `y`, `batch` (the graph of each node), `ptr`,
    `num_graphs`; every other column of the set is an attribute too. Edges are sorted by (target, source), so that the
    adjacency matrix [target, source] and its transpose are available without sorting:

    - CSR: the in-edges of node i are the edges `in_ptr[i]` to `in_ptr[i + 1]`;
    - CSC: its out-edges are `out_order[out_ptr[i]]` to `out_order[out_ptr[i + 1] - 1]`.

    `host_ptr` is `ptr` in the memory of the host, where the sizes of graphs decide what is computed.
    """

    def __init__(
        self,
        structure: Mapping[str, Tensor],
        columns: Mapping[str, Tensor],
        num_graphs: int,
        host_ptr: Tensor | None = None,
    ) -> None:
        self._structure = dict(structure)
        self.columns = dict(columns)
        self.num_graphs = num_graphs
        self._cache: dict[str, Any] = {}
        self.edge_index = self._structure["edge_index"]
        self.batch = self._structure["batch"]
        self.ptr = self._structure["ptr"]
        self.host_ptr = self.ptr if host_ptr is None else host_ptr
        self.in_ptr = self._structure["in_ptr"]
        self.out_ptr = self._structure["out_ptr"]
        self.out_order = self._structure["out_order"]
        self.in_degree = self._structure["in_degree"]
        self.out_degree = self._structure["out_degree"]

    @classmethod
    def from_set(cls, graphs: GraphSet, ids: npt.ArrayLike) -> GraphBatch:
        """Collate the graphs with these indices, in this order."""
        from graphtrial.graphs.collate import collate  # importing numba is slow, and many commands need no batch

        index = graph_ids(ids, len(graphs))
        set_structure = (np.asarray(array) for array in graphs.structure.values())
        node_ptr, edge_ptr, edge_index, in_degree, out_degree, out_order = set_structure
        nodes = int((node_ptr[index + 1] - node_ptr[index]).sum())
        edges = int((edge_ptr[index + 1] - edge_ptr[index]).sum())
        ptr = np.empty(len(index) + 1, np.int64)
        node_table, edge_table = np.empty((6, nodes + 1), np.int64), np.empty((4, edges), np.int64)
        collate(index, node_ptr, edge_ptr, edge_index, in_degree, out_degree, out_order, ptr, node_table, edge_table)
        rows = {"node": node_table[0, :nodes], "edge": edge_table[0], "graph": index}
        structure = {
            "edge_index": edge_table[1:3],
            "batch": node_table[1, :nodes],
            "ptr": ptr,
            "in_ptr": node_table[4],
            "out_ptr": node_table[5],
            "out_order": edge_table[3],
            "in_degree": node_table[2, :nodes],
            "out_degree": node_table[3, :nodes],
        }
        columns = {
            name: column_tensor(np.asarray(c.values).take(rows[c.level], axis=0))
            for name, c in graphs.columns.items()
            if c.level != "pair"  # PairLoader adds the pairs of its mini-batches
        }
        if PAIRS in graphs.columns and PAIR_COUNT in graphs.columns:
            columns |= _pair_columns(graphs, index, ptr)
        return cls({name: torch.from_numpy(a) for name, a in structure.items()}, columns, len(index))

    @property
    def num_nodes(self) -> int:
        """Number of nodes in the batch."""
        return self.batch.shape[0]

    @property
    def num_edges(self) -> int:
        """Number of directed edges in the batch."""
        return self.edge_index.shape[1]

    @property
    def x(self) -> Tensor | None:
        """Node features, [nodes, ...]."""
        return self.columns.get("x")

    @property
    def edge_attr(self) -> Tensor | None:
        """Edge features, [edges, ...]."""
        return self.columns.get("edge_attr")

    @property
    def y(self) -> Tensor | None:
        """The target."""
        return self.columns.get("y")

    def __getattr__(self, name: str) -> Tensor:
        columns: dict[str, Tensor] = self.__dict__.get("columns", {})
        if name in columns:
            return columns[name]
        raise AttributeError(f"this GraphBatch has no '{name}'; its columns are {', '.join(columns) or 'none'}")

    def __repr__(self) -> str:
        columns = ", ".join(f"{name}={list(value.shape)}" for name, value in self.columns.items())
        return f"GraphBatch({self.num_graphs} graphs, {self.num_nodes} nodes, {self.num_edges} edges; {columns})"

    def with_column(self, name: str, values: Tensor) -> GraphBatch:
        """Return a shallow copy with the column `name` added or replaced."""
        return self.with_columns({**self.columns, name: values})

    def with_columns(self, columns: Mapping[str, Tensor]) -> GraphBatch:
        """Return a shallow copy with these columns; structure and cache are shared."""
        batch = GraphBatch(self._structure, columns, self.num_graphs, self.host_ptr)
        batch._cache = self._cache  # depends on the structure alone
        return batch

    def select_targets(self, rows: Tensor) -> Tensor:
        """Select the rows of `target_index` from logits or labels [nodes or edges, ...]; all rows if there is none."""
        index = self.columns.get(TARGET_INDEX)
        return rows if index is None else rows.index_select(0, index)

    def cached(self, name: str, compute: Callable[[], T]) -> T:
        """Return the cached value `name`, a function of the batch's structure; `compute` it on first use."""
        if name not in self._cache:
            self._cache[name] = compute()
        value: T = self._cache[name]
        return value

    @property
    def device(self) -> torch.device:
        """The device of the batch."""
        return self.edge_index.device

    def to(self, device: torch.device | str) -> GraphBatch:
        """Copy the batch to `device`; to a CUDA device from pinned memory, without waiting for the copy."""
        from graphtrial.graphs.transfer import to_device

        to = torch.device(device)
        moved, columns = (
            {name: to_device(value, to) for name, value in tensors.items()}
            for tensors in (self._structure, self.columns)
        )
        return GraphBatch(moved, columns, self.num_graphs, self.host_ptr)


def _pair_columns(graphs: GraphSet, index: npt.NDArray[np.int64], ptr: npt.NDArray[np.int64]) -> dict[str, Tensor]:
    """Return the pair columns of these graphs; the nodes of the pairs are numbered as in the batch."""
    counts = graphs.pair_ptr[index + 1] - graphs.pair_ptr[index]
    rows = ranges(graphs.pair_ptr[index], counts)
    columns = {
        name: column_tensor(np.asarray(column.values).take(rows, axis=0))
        for name, column in graphs.columns.items()
        if column.level == "pair"
    }
    return columns | {PAIRS: columns[PAIRS] + torch.from_numpy(np.repeat(ptr[:-1], counts)[:, None])}


def column_tensor(values: npt.NDArray[Any]) -> Tensor:
    """Return a column as a tensor: PyG and torch index with int64, and compute with float16 features in float32."""
    if values.dtype.kind in "iu":
        return torch.from_numpy(values.astype(np.int64))
    return torch.from_numpy(values.astype(np.float32) if values.dtype == np.float16 else values)
