"""Division of the rows of a sparse matrix into chunks that fit into a cache, and into independent groups."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled

GROUPS = 16  # parts of a batch, at most


@compiled
def split_rows(ptr: Array, first: int, last: int, chunk: int) -> Array:
    """Return bounds that split the rows `first` to `last`, each of at most `chunk` entries or a single row."""
    bounds = np.empty(last - first + 1, np.int64)
    bounds[0] = first
    count, begin = 0, first
    for i in range(first, last):
        if i > begin and ptr[i + 1] - ptr[begin] > chunk:
            count += 1
            bounds[count] = begin = i
    if last > first:
        count += 1
        bounds[count] = last
    return bounds[: count + 1]


@compiled
def independent_rows(ptr: Array, index: Array) -> Array:
    """Return the bounds of at most `GROUPS` groups of rows with about as many entries, no two with a common column.

    The graphs of a batch are such groups; a single connected graph is one.
    """
    rows = len(ptr) - 1
    lowest = np.full(rows + 1, rows, np.int64)  # column of the rows from i on
    for i in range(rows - 1, -1, -1):
        lowest[i] = lowest[i + 1]
        for e in range(ptr[i], ptr[i + 1]):
            lowest[i] = min(lowest[i], index[e])
    bounds = np.zeros(GROUPS + 1, np.int64)
    count, highest = 0, np.int64(-1)  # column of the rows before i
    for i in range(1, rows):
        for e in range(ptr[i - 1], ptr[i]):
            highest = max(highest, index[e])
        enough = GROUPS * (ptr[i] - ptr[bounds[count]]) >= ptr[rows]
        if highest < lowest[i] and enough and count < GROUPS - 1:
            count += 1
            bounds[count] = i
    bounds[count + 1] = rows
    return bounds[: count + 2]


@compiled
def longest_chunk(ptr: Array, chunks: Array) -> int:
    """Return the largest number of entries of a chunk, at least 1."""
    most = 1
    for number in range(len(chunks) - 1):
        most = max(most, ptr[chunks[number + 1]] - ptr[chunks[number]])
    return most


@compiled
def longest_chunk_of_groups(ptr: Array, groups: Array, chunk: int) -> int:
    """Return the largest number of entries of a chunk where each group of rows is split by itself, at least 1.

    A new chunk begins with every group, so that chunks may be longer than those of all rows.
    """
    most = 1
    for group in range(len(groups) - 1):
        most = max(most, longest_chunk(ptr, split_rows(ptr, groups[group], groups[group + 1], chunk)))
    return most
