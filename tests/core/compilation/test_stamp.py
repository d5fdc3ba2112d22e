"""Stamp of a kernel: a change of anything that is compiled into it compiles it again."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from tests.helpers.kernels import run_kernel, write_kernel

from graphtrial.core.compilation.stamp import _dependencies
from graphtrial.ops.kernels import matmul_tile, strips, vector
from graphtrial.ops.kernels.matmul import matmul
from graphtrial.tape.interpreter import execute

HEADER = "from graphtrial.core.compiler import compiled\n"
CALLED = HEADER + "STEP = {step}\n@compiled\ndef g(x):\n    return x + {add}\n"
BELOW = "def f(x):\n    return h(x)\n@compiled\ndef h(x):\n    return g(x)\nfrom called import g\n"
INTRINSIC = """
from llvmlite import ir
from numba.extending import intrinsic
from called import constant
@intrinsic
def g(typing, x):
    def code(context, builder, signature, values):
        return builder.add(values[0], ir.Constant(values[0].type, constant()))
    return x(x), code
"""


def test_kernel_is_recompiled_when_a_callee_changes(tmp_path: Path) -> None:
    (tmp_path / "called.py").write_text(CALLED.format(step=1, add=1))
    write_kernel(tmp_path, "g(x) + STEP", "from called import STEP, g")
    assert run_kernel(tmp_path) == (0, [12, 0])
    (tmp_path / "called.py").write_text(CALLED.format(step=1, add=5))
    assert run_kernel(tmp_path) == (0, [16, 0])
    assert run_kernel(tmp_path) == (0, [16, 1])


def test_kernel_is_recompiled_when_a_callee_that_is_defined_below_it_changes(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(HEADER + "@compiled\n" + BELOW)
    (tmp_path / "called.py").write_text(CALLED.format(step=1, add=1))
    assert run_kernel(tmp_path) == (0, [11, 0])
    (tmp_path / "called.py").write_text(CALLED.format(step=1, add=5))
    assert run_kernel(tmp_path) == (0, [15, 0])
    assert run_kernel(tmp_path) == (0, [15, 1])


def test_kernel_is_recompiled_when_a_helper_of_an_intrinsic_changes(tmp_path: Path) -> None:
    (tmp_path / "called.py").write_text("def constant():\n    return 1\n")
    write_kernel(tmp_path, "g(x)", INTRINSIC)
    assert run_kernel(tmp_path) == (0, [11, 0])
    (tmp_path / "called.py").write_text("def constant():\n    return 5\n")
    assert run_kernel(tmp_path) == (0, [15, 0])


@pytest.mark.parametrize("kernel", [matmul, execute], ids=["matmul", "execute"])
def test_products_depend_on_tiles_and_vectors(kernel: object) -> None:
    parts = _dependencies(kernel.py_func, set())  # type: ignore[attr-defined]
    for module in (strips, matmul_tile, vector):
        assert hashlib.sha256(Path(module.__file__).read_bytes()).hexdigest() in parts
