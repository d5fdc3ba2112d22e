"""Tiles of 512-bit registers have the bits of tiles of 256-bit registers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphtrial.ops.kernels.matmul_tile import NARROW, SHAPES, WIDE

PRODUCTS = """
import hashlib
import numpy as np
from graphtrial.ops import kernels
from graphtrial.ops.kernels.matmul_tile import SHAPES

rng, hasher = np.random.default_rng(0), hashlib.sha256()
for rows, inner, columns in [(12, 12, 12), (25, 16, 24), (97, 33, 56), (250, 80, 160), (500, 79, 145), (13, 40, 47)]:
    sizes = (rows, inner), (columns, inner), (columns,), (rows, columns)
    x, weight, bias, grad = (rng.normal(size=size).astype(np.float32) for size in sizes)
    out, grad_x = np.empty_like(grad), np.empty_like(x)
    kernels.matmul(np.zeros(1, np.int64), x, weight, True, bias, out)
    kernels.matmul(np.zeros(1, np.int64), grad, weight, False, None, grad_x)
    grad_weight, sums = np.empty((1, *weight.shape), np.float32), np.empty((1, columns), np.float32)
    kernels.matmul_transposed(np.zeros(1, np.int64), grad, x, grad_weight, sums)
    for array in (out, grad_x, grad_weight, sums):
        hasher.update(array)
print(len(SHAPES), hasher.hexdigest())
"""


def products(folder: Path, processor: dict[str, str]) -> list[str]:
    environment = {**os.environ, **processor, "NUMBA_CACHE_DIR": str(folder)}
    done = subprocess.run([sys.executable, "-c", PRODUCTS], capture_output=True, text=True, env=environment, check=True)
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.skipif(SHAPES != WIDE, reason="this processor has no AVX-512")
def test_wide_and_narrow_tiles_have_the_same_bits(tmp_path: Path) -> None:
    """Compiled in one folder, as by machines that share one: neither discards the kernels of the other."""
    narrow = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma"}
    of_wide, of_narrow = products(tmp_path, {}), products(tmp_path, narrow)
    assert [of_wide[0], of_narrow[0]] == [str(len(WIDE)), str(len(NARROW))]
    assert of_wide[1] == of_narrow[1]
    cached = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nb?")}
    assert [products(tmp_path, {}), products(tmp_path, narrow)] == [of_wide, of_narrow]
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nb?")} == cached
