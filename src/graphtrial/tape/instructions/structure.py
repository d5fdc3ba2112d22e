"""Instructions that compute weights and indices of the structure of a batch, once per batch (see `dense`)."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.row_chunks import independent_rows
from graphtrial.tape.memory import integers, vector


@compiled
def symmetric_weight(table: Array, c: Array) -> None:
    """SYMMETRIC_WEIGHT source, target, out_degree, in_degree, out."""
    source, target = integers(table, c[1]), integers(table, c[2])
    out_degree, in_degree, out = integers(table, c[3]), integers(table, c[4]), vector(table, c[5])
    for e in range(len(out)):
        product = np.float32(out_degree[source[e]] * in_degree[target[e]])
        out[e] = np.float32(1) / np.sqrt(product)


@compiled
def mean_weight(table: Array, c: Array) -> None:
    """MEAN_WEIGHT ptr, index, out: 1 / number of elements of the segment `index` of each element."""
    ptr, index, out = integers(table, c[1]), integers(table, c[2]), vector(table, c[3])
    for e in range(len(out)):
        out[e] = np.float32(1) / np.float32(ptr[index[e] + 1] - ptr[index[e]])


@compiled
def graph_norm(table: Array, c: Array) -> None:
    """GRAPH_NORM ptr, batch, in_ptr, target, out: 1 / sqrt(size of the graph); in_ptr and target for edges alone."""
    ptr, batch, out = integers(table, c[1]), integers(table, c[2]), vector(table, c[5])
    for r in range(len(out)):
        if c[3] < 0:
            graph = batch[r]
            count = ptr[graph + 1] - ptr[graph]
        else:
            in_ptr = integers(table, c[3])
            graph = batch[integers(table, c[4])[r]]
            count = in_ptr[ptr[graph + 1]] - in_ptr[ptr[graph]]
        out[r] = np.float32(1) / np.sqrt(np.float32(count))


@compiled
def loop_scale(table: Array, c: Array) -> None:
    """LOOP_SCALE ptr, index; only new loops; out: 1 / sqrt(degree with a self-loop), or 0 where a loop is not new."""
    ptr, index, out = integers(table, c[1]), integers(table, c[2]), vector(table, c[4])
    for i in range(len(out)):
        new = 1
        for e in range(ptr[i], ptr[i + 1]):
            if index[e] == i:
                new = 0
        out[i] = np.float32(1) / np.sqrt(np.float32(ptr[i + 1] - ptr[i] + new))
        if c[3] == 1 and new == 0:
            out[i] = 0


@compiled
def structure(table: Array, c: Array, kind: int) -> None:
    """ONES out; RANGE out; GATHER_INTEGERS values, index, out; GROUPS ptr, index, out (count, then bounds)."""
    if kind == 0:
        vector(table, c[1])[:] = 1
    elif kind == 1:
        numbers = integers(table, c[1])
        for k in range(len(numbers)):
            numbers[k] = k
    elif kind == 2:
        values, index, gathered = integers(table, c[1]), integers(table, c[2]), integers(table, c[3])
        for k in range(len(gathered)):
            gathered[k] = values[index[k]]
    else:
        bounds, out = independent_rows(integers(table, c[1]), integers(table, c[2])), integers(table, c[3])
        out[0] = len(bounds)
        out[1 : 1 + len(bounds)] = bounds
