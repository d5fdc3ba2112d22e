"""Dropout masks from the counter-based generator SplitMix64."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled

STEP, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
PARTS = 4
SIXTEEN = np.uint64(16)


@compiled
def dropout_mask(seed: Array, threshold: int, value: float, out: Array) -> None:
    """Set each element of `out` to `value` with probability threshold / 65536, else to 0.

    Random bits are those of SplitMix64 (Steele et al. 2014) from `seed` [1]; each 64-bit word decides four elements by
    16 bits each, lowest first.
    """
    value_if_kept, zero = out.dtype.type(value), out.dtype.type(0)
    state = np.uint64(seed[0])
    whole = len(out) // PARTS
    for block in range(whole):
        state += STEP
        bits = _mixed(state)
        for part in range(PARTS):
            out[block * PARTS + part] = value_if_kept if np.int64(np.uint16(bits)) < threshold else zero
            bits >>= SIXTEEN
    bits = _mixed(state + STEP)
    for at in range(whole * PARTS, len(out)):
        out[at] = value_if_kept if np.int64(np.uint16(bits)) < threshold else zero
        bits >>= SIXTEEN


@compiled
def _mixed(state: np.uint64) -> np.uint64:
    bits = (state ^ (state >> SHIFTS[0])) * FIRST
    bits = (bits ^ (bits >> SHIFTS[1])) * SECOND
    mixed: np.uint64 = bits ^ (bits >> SHIFTS[2])
    return mixed
