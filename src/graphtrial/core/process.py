"""The one place that sets how a process computes: threads, memory, tiny numbers, random numbers."""

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


@contextmanager
def compute_settings(threads: int = 1) -> Iterator[None]:
    """Compute with one thread, reused memory and without denormal numbers inside the block.

    One thread: training on small graphs is dominated by thread barriers, and the order of summation, hence every bit of
    a result, depends on the number of threads; trials run side by side instead. Denormal numbers are flushed to zero,
    because arithmetic with them is a hundred times slower. Memory: see `keep_memory`.
    """
    keep_memory()
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(before)


@cache
def keep_memory() -> None:
    """Tell the allocator of this process to keep freed memory, once and for all.

    Each training step frees and asks for the same large blocks. By default glibc gives them back to the system, which
    fills them with zeros page by page when they are asked for again; on large batches that takes longer than the
    computation. The price is that a process stays as large as it ever was. Elsewhere than on glibc nothing is done.
    """
    if not sys.platform.startswith("linux"):
        return
    library = ctypes.CDLL(None)
    if not hasattr(library, "gnu_get_libc_version"):
        return
    trim_threshold, top_pad, mmap_threshold = -1, -2, -3  # the names of mallopt(3)
    if not library.mallopt(mmap_threshold, 1 << 30):
        library.mallopt(mmap_threshold, 32 << 20)  # the most that older versions take
    library.mallopt(trim_threshold, -1)  # never
    library.mallopt(top_pad, 64 << 20)


def memory_meter() -> Callable[[], dict[str, int]]:
    """Return a function that tells, as `peak_bytes`, how far the memory of this process rose above what it is now.

    Pages that it shares with others count where it touched them. Elsewhere than on Linux it tells nothing.
    """
    try:
        Path("/proc/self/clear_refs").write_text("5")  # from now on, the peak is that of what follows; see proc(5)
        before = _memory("VmRSS")
    except OSError:
        return dict
    return lambda: {"peak_bytes": max(0, _memory("VmHWM") - before)}


def _memory(name: str) -> int:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next((1024 * int(line.split()[1]) for line in status.splitlines() if line.startswith(f"{name}:")), 0)


def seed_everything(seed: int) -> None:
    """Seed the global random number generators of Python, NumPy and torch."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)
