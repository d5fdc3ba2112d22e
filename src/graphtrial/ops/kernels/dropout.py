"""Dropout by masks from the counter-based generator SplitMix64."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware.blocks import next_block

STEP, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
PARTS = 4
BLOCK = 1 << 12  # elements that a thread takes at a time: they stay in its cache
SIXTEEN = np.uint64(16)


@compiled
def dropout(claim: Array, seed: Array, threshold: int, value: float, x: Array, out: Array) -> None:
    """Set each element of `out` to x * value with probability threshold / 65536, else to x * 0; x None stands for 1.

    Random bits are those of SplitMix64 (Steele et al. 2014) from `seed` [1]; each 64-bit word decides four elements by
    16 bits each, lowest first.
    """
    value_if_kept, zero = out.dtype.type(value), out.dtype.type(0)
    first = BLOCK * next_block(claim)
    while first < len(out):
        last = min(len(out), first + BLOCK)
        state = np.uint64(seed[0]) + np.uint64(first // PARTS) * STEP
        for block in range(first // PARTS, last // PARTS):
            state += STEP
            bits = _mixed(state)
            for part in range(PARTS):
                out[block * PARTS + part] = value_if_kept if np.int64(np.uint16(bits)) < threshold else zero
                bits >>= SIXTEEN
        bits = _mixed(state + STEP)
        for at in range(last // PARTS * PARTS, last):
            out[at] = value_if_kept if np.int64(np.uint16(bits)) < threshold else zero
            bits >>= SIXTEEN
        if x is not None:
            for at in range(first, last):
                out[at] *= x[at]
        first = BLOCK * next_block(claim)


@compiled
def fill_mask(seed: int, place: int, threshold: int, value: float, out: Array) -> None:
    """Fill a flat array with the elements of a mask of `dropout` from `place` on; both are multiples of four."""
    value_if_kept, zero = out.dtype.type(value), out.dtype.type(0)
    state = np.uint64(seed) + np.uint64(place // PARTS) * STEP
    for block in range(len(out) // PARTS):
        state += STEP
        bits = _mixed(state)
        for part in range(PARTS):
            out[block * PARTS + part] = value_if_kept if np.int64(np.uint16(bits)) < threshold else zero
            bits >>= SIXTEEN


@compiled
def _mixed(state: np.uint64) -> np.uint64:
    bits = (state ^ (state >> SHIFTS[0])) * FIRST
    bits = (bits ^ (bits >> SHIFTS[1])) * SECOND
    mixed: np.uint64 = bits ^ (bits >> SHIFTS[2])
    return mixed
