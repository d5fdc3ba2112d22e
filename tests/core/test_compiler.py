"""Cache of compiled kernels: no stale code after kills and edits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphtrial.core.compiler import _CacheFiles, compiled, exact

KERNEL = "from graphtrial.core.compiler import compiled\n{more}\n@compiled\ndef f(x):\n    return {body}\n"
CALL = """
import sys
sys.path.insert(0, {folder!r})
{before}
import kernel
print(kernel.f(10), len(kernel.f.stats.cache_hits))
"""
DIE = """
import os, signal
replace = os.replace
def replace_and_die(source, target):
    replace(source, target)
    if str(target).endswith((".nbi", ".nbc")):
        os.kill(os.getpid(), signal.SIGKILL)
os.replace = replace_and_die
"""


def run(folder: Path, before: str = "") -> tuple[int, list[int]]:
    text = CALL.format(folder=str(folder), before=before)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(folder / "kept")}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=environment, check=False)
    return done.returncode, [int(word) for word in done.stdout.split()]


@pytest.mark.slow
def test_a_kernel_is_compiled_by_one_of_two_processes(tmp_path: Path) -> None:
    write(tmp_path, "x + 1")
    script = CALL.format(folder=str(tmp_path), before="")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    both = [
        subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert sorted(process.communicate(timeout=300)[0].split() for process in both) == [["11", "0"], ["11", "1"]]


@pytest.mark.slow
def test_a_kernel_imported_before_a_fork_is_compiled_after_it(tmp_path: Path) -> None:
    write(tmp_path, "x + 1")
    fork = "import kernel, os, sys\nkernel.f(1.5)\nif os.fork(): sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))"
    assert run(tmp_path, fork) == (0, [11, 0])


@pytest.mark.slow
def test_a_folder_that_cannot_be_locked_is_no_obstacle(tmp_path: Path) -> None:
    write(tmp_path, "x + 1")
    assert run(tmp_path) == (0, [11, 0])
    (lock,) = (tmp_path / "kept").rglob("*.compile.lock")
    lock.unlink(missing_ok=True)
    lock.mkdir()
    write(tmp_path, "x + 2")
    assert run(tmp_path) == (0, [12, 0])


@pytest.mark.slow
def test_a_forked_process_compiles_a_kernel_imported_before_the_fork(tmp_path: Path) -> None:
    """As the first trial on a new machine does, in a worker of the fork server."""
    write(tmp_path, "x + 1")
    fork = "import os, kernel\nos.fork() and sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))"
    assert run(tmp_path, before=fork) == (0, [11, 0])


def write(folder: Path, body: str, more: str = "") -> None:
    (folder / "kernel.py").write_text(KERNEL.format(body=body, more=more))


def test_stale_compiled_code_is_never_run_after_a_kill(tmp_path: Path) -> None:
    write(tmp_path, "x + 1")
    assert run(tmp_path) == (0, [11, 0])
    assert run(tmp_path) == (0, [11, 1])  # kept
    write(tmp_path, "x + 2")
    assert run(tmp_path, DIE)[0] == -9  # after the first file was written
    assert run(tmp_path)[1][0] == 12


def test_kernel_is_recompiled_when_a_callee_changes(tmp_path: Path) -> None:
    called = "from graphtrial.core.compiler import compiled\nSTEP = {}\n@compiled\ndef g(x):\n    return x + {}\n"
    (tmp_path / "called.py").write_text(called.format(1, 1))
    write(tmp_path, "g(x) + STEP", "from called import STEP, g")
    assert run(tmp_path)[1][0] == 12
    (tmp_path / "called.py").write_text(called.format(1, 5))
    assert run(tmp_path)[1][0] == 16


def test_concurrent_saves_do_not_mix_compiled_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (_CacheFiles(str(tmp_path), "kernel.f-1.py311", "stamp") for _ in range(2))
    other.save("for doubles", "code for doubles")
    monkeypatch.setattr(one, "_load_index", dict)  # it looked before the other was done
    one.save("for singles", "code for singles")
    last = _CacheFiles(str(tmp_path), "kernel.f-1.py311", "stamp")
    assert last.load("for singles") == "code for singles"
    assert last.load("for doubles") in (None, "code for doubles")
    assert _CacheFiles(str(tmp_path), "kernel.f-1.py311", "another stamp").load("for singles") is None


def test_corrupt_compiled_kernel_is_recompiled(tmp_path: Path) -> None:
    write(tmp_path, "x + 1")
    assert run(tmp_path) == (0, [11, 0])
    for suffix in (".nbi", ".nbc"):
        (file,) = (tmp_path / "kept").rglob(f"*{suffix}")
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 4
        file.write_bytes(content)
        assert run(tmp_path) == (0, [11, 0])
        assert run(tmp_path) == (0, [11, 1])
        file.write_bytes(b"")
        assert run(tmp_path) == (0, [11, 0])


def test_flipped_bit_of_a_compiled_kernel_is_detected(tmp_path: Path) -> None:
    cache_files = _CacheFiles(str(tmp_path), "kernel.f-1.py311", "stamp")
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


@pytest.mark.slow
def test_a_kernel_that_does_not_compile_is_one_line_and_releases_its_lock(tmp_path: Path) -> None:
    """Also where a kernel that it calls is the one that fails, and a second process does not wait for the lock."""
    refused = "from graphtrial.core.compiler import compiled\n@compiled\ndef inner(x):\n    return x.missing\n"
    write(tmp_path, "inner(x)", refused)
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
    assert run(tmp_path, before=check)[0] == 0


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
