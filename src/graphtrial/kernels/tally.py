"""Counting of whole-number keys inside compiled loops: a growing list of counts, and a hash table of its places."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphtrial.core.compiler import compiled

EMPTY = -1


class Tally(NamedTuple):
    """Counts [graphs, kinds], the kinds in ascending order, and the parts of each kind's key [kinds, parts]."""

    counts: sparse.csr_matrix
    kinds: npt.NDArray[np.int64]


def tallied(row_ptr: Any, key: Any, count: Any, sizes: tuple[int, ...]) -> Tally:
    """Return the counts of a list as a matrix; its keys are numbers of mixed base, one digit for each of `sizes`.

    A key that a graph has twice counts with the sum.
    """
    found, column = np.unique(key, return_inverse=True)
    values = (count.astype(np.float64), column.reshape(-1), row_ptr)
    counts = sparse.csr_matrix(values, shape=(len(row_ptr) - 1, len(found)))
    counts.sum_duplicates()
    digits, rest = [], found
    for size in reversed(sizes):
        rest, digit = rest // size, rest % size
        digits.append(digit)
    return Tally(counts, np.stack(digits[::-1], axis=1))


@compiled
def new_table() -> Any:
    """Return an empty table of places in the list."""
    return np.full(64, EMPTY, np.int64)


@compiled
def find(table: Any, keys: Any, key: int) -> int:
    """Return the slot of the table that holds the place of a key, or that would."""
    mask = len(table) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64((mixed >> np.uint64(24)) & np.uint64(mask))
    while table[slot] >= 0 and keys[table[slot]] != key:
        slot = (slot + 1) & mask
    return slot


@compiled
def insert(table: Any, keys: Any, counts: Any, begin: int, used: int, key: int) -> Any:
    """Add a new key, with count 0, to a list whose keys since `begin` are in the table; both grow as they must.

    Returns table, keys and counts; the new key is the last of `used + 1`.
    """
    if used == len(keys):
        keys, counts = longer(keys), longer(counts)
    keys[used], counts[used] = key, 0
    if 2 * (used + 1 - begin) > len(table):
        table = np.full(4 * len(table), EMPTY, np.int64)
        for place in range(begin, used):
            table[find(table, keys, keys[place])] = place
    table[find(table, keys, key)] = used
    return table, keys, counts


@compiled
def longer(array: Any) -> Any:
    """Return an array of twice the length that begins alike."""
    made = np.empty(2 * len(array), array.dtype)
    made[: len(array)] = array
    return made
