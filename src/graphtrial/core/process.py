"""Process settings: threads, allocator, flush-to-zero, random seeds, peak memory."""

from __future__ import annotations

import ctypes
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import torch

from graphtrial.core.hardware.threads import current_threads, use_threads


@contextmanager
def compute_settings(threads: int | None = None) -> Iterator[None]:
    """Set the number of threads, flush-to-zero of denormals and the allocator inside the block.

    torch itself computes on one thread, because the order of its sums, hence every bit of a result, depends on their
    number. Our operators share blocks among `threads` (see `core.hardware.threads`), by default those of the
    surrounding block or one, which changes no bit. Arithmetic with denormals is a hundred times slower. For the
    allocator see `retain_freed_memory`.
    """
    retain_freed_memory()
    before, flushed = torch.get_num_threads(), flushes_denormals()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        with use_threads(threads or current_threads()):
            yield
    finally:
        torch.set_flush_denormal(flushed)
        torch.set_num_threads(before)


def flushes_denormals() -> bool:
    """Return whether this thread flushes denormals to zero; torch sets the mode, but does not tell it."""
    return float(torch.full((1,), 1e-40).mul_(0.5)) == 0


@cache
def retain_freed_memory() -> None:
    """Configure glibc's malloc to keep freed memory instead of returning it to the system.

    Each training step frees and allocates the same large blocks. By default glibc unmaps them, and the kernel zeroes
    every page when they are mapped again, which takes longer than the computation on large batches. The resident size
    stays at its peak. No effect without glibc.
    """
    if not sys.platform.startswith("linux"):
        return
    library = ctypes.CDLL(None)
    if not hasattr(library, "gnu_get_libc_version"):
        return
    trim_threshold, top_pad, mmap_threshold = -1, -2, -3  # M_TRIM_THRESHOLD, ... of mallopt(3)
    if not library.mallopt(mmap_threshold, 1 << 30):
        library.mallopt(mmap_threshold, 32 << 20)  # the maximum of older versions
    library.mallopt(trim_threshold, -1)  # never
    library.mallopt(top_pad, 64 << 20)


def memory_meter() -> Callable[[], dict[str, int]]:
    """Return a function giving `peak_bytes`: the peak resident memory since this call, above the current one.

    Shared pages count once touched. The function returns an empty dict except on Linux.
    """
    try:
        Path("/proc/self/clear_refs").write_text("5")  # reset the peak resident set size; see proc(5)
        before = _status_bytes("VmRSS")
    except OSError:
        return dict
    return lambda: {"peak_bytes": max(0, _status_bytes("VmHWM") - before)}


def _status_bytes(name: str) -> int:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next((1024 * int(line.split()[1]) for line in status.splitlines() if line.startswith(f"{name}:")), 0)


def seed_everything(seed: int) -> None:
    """Seed the global random number generators of Python, NumPy and torch."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)
