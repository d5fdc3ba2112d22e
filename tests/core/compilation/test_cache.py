"""Cache of compiled kernels: no stale code after kills and edits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.helpers.kernels import CALL, run_kernel, write_kernel

from graphtrial.core.compilation.cache import CacheFiles

DIE = """
import os, signal
replace = os.replace
def replace_and_die(source, target):
    replace(source, target)
    if str(target).endswith((".nbi", ".nbc")):
        os.kill(os.getpid(), signal.SIGKILL)
os.replace = replace_and_die
"""


@pytest.mark.slow
def test_a_kernel_is_compiled_by_one_of_two_processes(tmp_path: Path) -> None:
    write_kernel(tmp_path, "x + 1")
    script = CALL.format(folder=str(tmp_path), before="")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    both = [
        subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert sorted(process.communicate(timeout=300)[0].split() for process in both) == [["11", "0"], ["11", "1"]]


@pytest.mark.slow
def test_a_kernel_imported_before_a_fork_is_compiled_after_it(tmp_path: Path) -> None:
    write_kernel(tmp_path, "x + 1")
    fork = "import kernel, os, sys\nkernel.f(1.5)\nif os.fork(): sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))"
    assert run_kernel(tmp_path, fork) == (0, [11, 0])


@pytest.mark.slow
def test_a_folder_that_cannot_be_locked_is_no_obstacle(tmp_path: Path) -> None:
    write_kernel(tmp_path, "x + 1")
    assert run_kernel(tmp_path) == (0, [11, 0])
    (lock,) = (tmp_path / "kept").rglob("*.compile.lock")
    lock.unlink(missing_ok=True)
    lock.mkdir()
    write_kernel(tmp_path, "x + 2")
    assert run_kernel(tmp_path) == (0, [12, 0])


@pytest.mark.slow
def test_a_forked_process_compiles_a_kernel_imported_before_the_fork(tmp_path: Path) -> None:
    """As the first trial on a new machine does, in a worker of the fork server."""
    write_kernel(tmp_path, "x + 1")
    fork = "import os, kernel\nos.fork() and sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))"
    assert run_kernel(tmp_path, before=fork) == (0, [11, 0])


def test_stale_compiled_code_is_never_run_after_a_kill(tmp_path: Path) -> None:
    write_kernel(tmp_path, "x + 1")
    assert run_kernel(tmp_path) == (0, [11, 0])
    assert run_kernel(tmp_path) == (0, [11, 1])  # kept
    write_kernel(tmp_path, "x + 2")
    assert run_kernel(tmp_path, DIE)[0] == -9  # after the first file was written
    assert run_kernel(tmp_path)[1][0] == 12


def test_concurrent_saves_do_not_mix_compiled_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (CacheFiles(str(tmp_path), "kernel.f-1.py311", "stamp") for _ in range(2))
    other.save("for doubles", "code for doubles")
    monkeypatch.setattr(one, "_load_index", dict)  # it looked before the other was done
    one.save("for singles", "code for singles")
    last = CacheFiles(str(tmp_path), "kernel.f-1.py311", "stamp")
    assert last.load("for singles") == "code for singles"
    assert last.load("for doubles") in (None, "code for doubles")
    assert CacheFiles(str(tmp_path), "kernel.f-1.py311", "another stamp").load("for singles") is None


def test_corrupt_compiled_kernel_is_recompiled(tmp_path: Path) -> None:
    write_kernel(tmp_path, "x + 1")
    assert run_kernel(tmp_path) == (0, [11, 0])
    for suffix in (".nbi", ".nbc"):
        (file,) = (tmp_path / "kept").rglob(f"*{suffix}")
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 4
        file.write_bytes(content)
        assert run_kernel(tmp_path) == (0, [11, 0])
        assert run_kernel(tmp_path) == (0, [11, 1])
        file.write_bytes(b"")
        assert run_kernel(tmp_path) == (0, [11, 0])


def test_flipped_bit_of_a_compiled_kernel_is_detected(tmp_path: Path) -> None:
    cache_files = CacheFiles(str(tmp_path), "kernel.f-1.py311", "stamp")
    cache_files.save("for doubles", "code for doubles")
    for file in tmp_path.glob("*.nb?"):
        whole = file.read_bytes()
        for position in range(len(whole)):
            content = bytearray(whole)
            content[position] ^= 1 << position % 8
            file.write_bytes(content)
            assert cache_files.load("for doubles") is None
        file.write_bytes(whole)
    assert cache_files.load("for doubles") == "code for doubles"
