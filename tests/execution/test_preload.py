"""The fork server: everything a worker needs, and nothing that it does not."""

from __future__ import annotations

import subprocess
import sys

import pytest

UNUSED = ("torch._dynamo", "torch._inductor", "scipy.linalg", "scipy.sparse", "sklearn", "matplotlib", "pandas", "rich")
UNUSED += ("networkx", "requests", "torch_geometric", "rdkit", "ray", "typer", "pydantic", "graphtrial.cli")
LOADED = """
import sys
import graphtrial.execution.preload
from graphtrial.trials.environment import _process
assert _process.cache_info().currsize == 1
print(*[name for name in sys.argv[1:] if name in sys.modules])
"""


def test_the_fork_server_imports_nothing_that_a_worker_does_not_use() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *UNUSED], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


@pytest.mark.parametrize("first", ["kernels", "scipy"])
def test_numba_finds_the_blas_of_scipy_afterwards(first: str) -> None:
    text = "import scipy.linalg\n" if first == "scipy" else ""
    text += (
        "import numpy as np\nfrom graphtrial.ops import kernels\nkernels.warm_up()\nfrom numba import njit\n"
        "a = np.arange(4.0).reshape(2, 2)\n"
        "assert (njit(lambda x: x @ x)(a) == a @ a).all()\nimport scipy.linalg\nassert scipy.linalg.det(a) == -2\n"
    )
    subprocess.run([sys.executable, "-c", text], timeout=300, check=True)
