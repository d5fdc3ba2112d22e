"""Blocks distributed over threads: each computed exactly once, in any order."""

from __future__ import annotations

import os
from threading import get_ident

import numpy as np
import pytest
import torch

from graphtrial.core.compiler import Array, compiled
from graphtrial.core.hardware import threads
from graphtrial.core.hardware.blocks import next_block
from graphtrial.core.hardware.threads import current_threads, run, run_blocks, use_threads
from graphtrial.core.process import compute_settings


@compiled
def count_blocks(claim: Array, out: Array) -> None:
    """Add 1 to each element of `out`, block by block."""
    at = next_block(claim)
    while at < len(out):
        out[at] += 1
        at = next_block(claim)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_every_block_is_computed_exactly_once(number: int) -> None:
    for _ in range(20):
        out = np.zeros(10_000, np.int64)
        with use_threads(number):
            run(count_blocks, threads.MIN_WORK, out)
        assert (out == 1).all()


@pytest.mark.parametrize("number", [1, 2, 4])
def test_results_are_in_block_order_without_gradient(number: int) -> None:
    weight = torch.ones(3, requires_grad=True)
    with use_threads(number):
        results = run_blocks(lambda at: weight * at, range(50), threads.MIN_WORK)
    assert [float(value[0]) for value in results] == list(range(50))
    assert not any(value.requires_grad for value in results)


def test_large_work_uses_several_threads_and_small_work_one() -> None:
    def ident(_: int) -> int:
        torch.mm(torch.ones(200, 200), torch.ones(200, 200))
        return get_ident()

    with use_threads(3):
        assert set(run_blocks(ident, range(50), threads.MIN_WORK - 1)) == {get_ident()}
        seen = {name for _ in range(20) for name in run_blocks(ident, range(50), threads.MIN_WORK)}
    assert len(seen) > 1


def test_helper_threads_flush_denormals_and_torch_uses_one_thread() -> None:
    tiny = torch.full((8,), 1e-40)

    def product(_: int) -> tuple[float, int]:
        return float((tiny * 0.5).sum()), torch.get_num_threads()

    with compute_settings(threads=3):
        assert current_threads() == 3
        for _ in range(10):
            assert set(run_blocks(product, range(30), threads.MIN_WORK)) == {(0.0, 1)}
    assert current_threads() == 1


def test_exception_of_any_block_is_raised_in_the_caller() -> None:
    def fail(at: int) -> None:
        if at == 17:
            raise ValueError("block 17")

    for number in (1, 3):
        with use_threads(number), pytest.raises(ValueError, match="block 17"):
            run_blocks(fail, range(40), threads.MIN_WORK)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_forked_process_starts_new_helper_threads() -> None:
    out = np.zeros(1000, np.int64)
    with use_threads(2):
        run(count_blocks, threads.MIN_WORK, out)
        child = os.fork()
        if not child:
            run(count_blocks, threads.MIN_WORK, out)
            os._exit(0 if (out == 2).all() else 1)
        assert os.waitpid(child, 0)[1] == 0
