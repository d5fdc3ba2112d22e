"""The one place that sets how a process computes: threads and random numbers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


@contextmanager
def one_thread(threads: int = 1) -> Iterator[None]:
    """Compute with one thread inside the block.

    Training on small graphs is dominated by thread barriers, and the order of summation, hence every bit of a result,
    depends on the number of threads. Trials run side by side instead.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def seed_everything(seed: int) -> None:
    """Seed the global random number generators of Python, NumPy and torch."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)
