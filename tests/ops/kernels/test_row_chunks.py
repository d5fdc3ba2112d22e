"""Division of rows into chunks and groups."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from graphtrial.ops.kernels.row_chunks import longest_chunk, longest_chunk_of_groups, split_rows


def test_buffers_hold_the_longest_chunk_of_every_group() -> None:
    """Split by groups, chunks may be longer than those of all rows: each group begins a new one."""
    rng = np.random.default_rng(0)
    longer = 0
    for _ in range(200):
        ptr = np.concatenate([[0], np.cumsum(rng.integers(0, 9, 40))])
        groups = np.array([0, *np.sort(rng.choice(np.arange(1, 40), 3, replace=False)), 40])
        chunk = int(rng.integers(5, 30))
        bounds = [split_rows(ptr, first, last, chunk) for first, last in pairwise(groups)]
        expected = max(int(np.diff(ptr[each]).max()) for each in bounds)
        assert longest_chunk_of_groups(ptr, groups, chunk) == expected
        longer += expected > longest_chunk(ptr, split_rows(ptr, 0, 40, chunk))
    assert longer  # the buffer of all rows would be too short
