"""Feature counting in compiled loops: a growing list of integer keys and counts, indexed by a hash table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphtrial.core.compiler import compiled

EMPTY = -1


class FeatureCounts(NamedTuple):
    """Counts [graphs, features], features sorted by key, and the decoded keys [features, parts]."""

    counts: sparse.csr_matrix
    kinds: npt.NDArray[np.int64]


def feature_counts(row_ptr: Any, key: Any, count: Any, sizes: tuple[int, ...]) -> FeatureCounts:
    """Return a sparse matrix of counts from CSR pointers, keys and counts; duplicate keys of a graph are summed.

    Keys are mixed-radix numbers with one digit for each of `sizes`.
    """
    unique, column = np.unique(key, return_inverse=True)
    values = (count.astype(np.float64), column.reshape(-1), row_ptr)
    counts = sparse.csr_matrix(values, shape=(len(row_ptr) - 1, len(unique)))
    counts.sum_duplicates()
    digits, rest = [], unique
    for size in reversed(sizes):
        rest, digit = rest // size, rest % size
        digits.append(digit)
    return FeatureCounts(counts, np.stack(digits[::-1], axis=1))


@compiled
def new_table() -> Any:
    """Return an empty hash table."""
    return np.full(64, EMPTY, np.int64)


@compiled
def find(table: Any, keys: Any, key: int) -> int:
    """Return the slot of a key, or the free slot to insert it at (linear probing)."""
    mask = len(table) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot: int = np.int64((mixed >> np.uint64(24)) & np.uint64(mask))
    while table[slot] >= 0 and keys[table[slot]] != key:
        slot = (slot + 1) & mask
    return slot


@compiled
def insert(table: Any, keys: Any, counts: Any, begin: int, used: int, key: int) -> Any:
    """Append a key with count 0 at index `used`; the table holds the keys from `begin` on.

    Returns table, keys and counts, reallocated where they were full.
    """
    if used == len(keys):
        keys, counts = grown(keys), grown(counts)
    keys[used], counts[used] = key, 0
    if 2 * (used + 1 - begin) > len(table):
        table = np.full(4 * len(table), EMPTY, np.int64)
        for index in range(begin, used):
            table[find(table, keys, keys[index])] = index
    table[find(table, keys, key)] = used
    return table, keys, counts


@compiled
def grown(array: Any) -> Any:
    """Return a copy of twice the length."""
    larger = np.empty(2 * len(array), array.dtype)
    larger[: len(array)] = array
    return larger
