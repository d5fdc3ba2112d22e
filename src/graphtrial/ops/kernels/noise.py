"""Random numbers that are either 0 or one other value."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled

STEP, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
PARTS = 4
SIXTEEN = np.uint64(16)


@compiled
def keep_or_drop(seed: Array, below: int, value: float, out: Array) -> None:
    """Set each of `out`, one after the other, to `value` with probability below / 65536, and to 0 else.

    The numbers are those of SplitMix64 (Steele et al. 2014) after `seed` [1], each cut into four parts of 16 bits, of
    which the lowest comes first.
    """
    kept, nothing = out.dtype.type(value), out.dtype.type(0)
    state = np.uint64(seed[0])
    whole = len(out) // PARTS
    for block in range(whole):
        state += STEP
        bits = _mixed(state)
        for part in range(PARTS):
            out[block * PARTS + part] = kept if np.int64(np.uint16(bits)) < below else nothing
            bits >>= SIXTEEN
    bits = _mixed(state + STEP)
    for at in range(whole * PARTS, len(out)):
        out[at] = kept if np.int64(np.uint16(bits)) < below else nothing
        bits >>= SIXTEEN


@compiled
def _mixed(state: int) -> int:
    bits = (state ^ (state >> SHIFTS[0])) * FIRST
    bits = (bits ^ (bits >> SHIFTS[1])) * SECOND
    return bits ^ (bits >> SHIFTS[2])
