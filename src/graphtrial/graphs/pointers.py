"""Row pointers of graphs in flat arrays: counts to pointers, index ranges, validated graph indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import InvalidGraphError

if TYPE_CHECKING:
    from graphtrial.graphs.column import Column
    from graphtrial.graphs.graphset import GraphSet

Array = npt.NDArray[Any]


def to_pointers(counts: Array) -> Array:
    """Return the exclusive prefix sum of `counts` and their total, [counts + 1], as `indptr` of a CSR matrix."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def ranges(starts: Array, counts: Array) -> Array:
    """Concatenate `arange(start, start + count)` over all starts and counts."""
    ends = np.cumsum(counts, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - counts), counts) + np.arange(total)


def check_counts(counts: npt.ArrayLike, name: str) -> Array:
    """Return the sizes of graphs as a validated int64 array."""
    array = np.asarray(counts)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidGraphError(f"{name} must be a flat list of integers, not shape {array.shape} of {array.dtype}")
    if array.size and array.min() < 0:
        raise InvalidGraphError(f"{name} has a negative entry for graph {int(array.argmin())}")
    return array.astype(np.int64)


def graph_ids(ids: npt.ArrayLike, graphs: int) -> npt.NDArray[np.int64]:
    """Return `ids` as a validated int64 array of indices into a set of `graphs` graphs."""
    array = np.asarray(ids)
    if array.ndim != 1:
        raise InvalidGraphError(f"graph indices must be a flat list of integers, not of shape {array.shape}")
    if array.size and array.dtype.kind not in "iu":
        raise InvalidGraphError(f"graph indices must be integers, not {array.dtype}")
    if array.size and (array.min() < 0 or array.max() >= graphs):
        wrong = array.min() if array.min() < 0 else array.max()
        size = f"{graphs} graphs, with indices 0 to {graphs - 1}" if graphs else "no graphs"
        raise InvalidGraphError(f"graph index {wrong} is out of range: the set has {size}")
    return array.astype(np.int64, copy=False)


def edges_of_graph(graphs: GraphSet, graph: int) -> Array:
    """Return the `edge_index` [2, edges] of one graph."""
    return np.asarray(graphs.edge_index[:, graphs.edge_ptr[graph] : graphs.edge_ptr[graph + 1]])


def rows_of_graph(graphs: GraphSet, graph: int, column: Column) -> Array:
    """Return the rows of a column that belong to one graph."""
    if column.level == "graph":
        return np.asarray(column.values[graph : graph + 1])
    pointers = {"node": graphs.node_ptr, "edge": graphs.edge_ptr, "pair": graphs.pair_ptr}[column.level]
    return np.asarray(column.values[pointers[graph] : pointers[graph + 1]])
