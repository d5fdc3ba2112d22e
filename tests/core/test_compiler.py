"""Decorators of kernels: rounding and errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.kernels import run_kernel, write_kernel

from graphtrial.core.compiler import compiled, exact


@pytest.mark.slow
def test_a_kernel_that_does_not_compile_is_one_line_and_releases_its_lock(tmp_path: Path) -> None:
    """Also where a kernel that it calls is the one that fails, and a second process does not wait for the lock."""
    refused = "from graphtrial.core.compiler import compiled\n@compiled\ndef inner(x):\n    return x.missing\n"
    write_kernel(tmp_path, "inner(x)", refused)
    check = f"""
import glob, sys
sys.path.insert(0, {str(tmp_path)!r})
from filelock import FileLock
from numba.core.errors import TypingError
from graphtrial.core.errors import GraphTrialError
import kernel
for _ in range(2):
    try:
        kernel.f(10)
    except GraphTrialError as error:
        assert "the kernel kernel.f does not compile with numba" in str(error), error
        assert "supports numba>=" in str(error) and "missing" in str(error), error
        assert isinstance(error.__cause__, TypingError)
    else:
        raise SystemExit("it compiled")
for function in (kernel.f, kernel.inner):
    assert not function._cache._compiling.is_locked
sys.exit()
"""
    assert run_kernel(tmp_path, before=check)[0] == 0


@exact
def _product_and_sum(a: float, b: float, c: float) -> float:
    return a * b + c


@compiled
def _calls_exact(a: float, b: float, c: float) -> float:
    value: float = _product_and_sum(a, b, c)
    return value


def test_an_exact_function_is_exact_where_a_compiled_one_calls_it_first() -> None:
    """Numba passes options that are not stated on to functions that are first compiled for a caller."""
    tiny = 2.0**-30
    assert _calls_exact(1 + tiny, 1 - tiny, -1.0) == 0  # a fused multiply-add gives -2 ** -60
    assert _product_and_sum(1 + tiny, 1 - tiny, -1.0) == 0
