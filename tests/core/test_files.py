"""Atomic writes: files are complete or absent if the writing process is killed."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.core.files import atomic_folder, atomic_path, cache_home, make_folder, read_json, sha256_of, write_text

KILLED = -signal.SIGKILL

DIES_WRITING_A_FILE = """
import os, signal, sys
from pathlib import Path
from graphtrial.core.files import atomic_path
with atomic_path(Path(sys.argv[1])) as temporary:
    temporary.write_text("half of the new")
    os.kill(os.getpid(), signal.SIGKILL)
"""

DIES_WRITING_A_FOLDER = """
import os, signal, sys
from pathlib import Path
from graphtrial.core.files import atomic_folder
with atomic_folder(Path(sys.argv[1])) as temporary:
    (temporary / "one").write_text("new")
    os.kill(os.getpid(), signal.SIGKILL)
"""

DIES_REMOVING_THE_OLD_FOLDER = """
import os, shutil, signal, sys
from pathlib import Path
from graphtrial.core.files import atomic_folder
def remove_one_file_and_die(folder, **_):
    for file in sorted(Path(folder).rglob("*")):
        if file.is_file():
            file.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
shutil.rmtree = remove_one_file_and_die
with atomic_folder(Path(sys.argv[1])) as temporary:
    (temporary / "one").write_text("new")
    (temporary / "two").write_text("new")
"""

WRITES_FOR_EVER = """
import sys
from pathlib import Path
from graphtrial.core.files import write_text
print("started", flush=True)
while True:
    for letter in "ab":
        write_text(Path(sys.argv[1]), letter * 300_000)
"""


def run(program: str, target: Path) -> int:
    return subprocess.run([sys.executable, "-c", program, str(target)], timeout=60, check=False).returncode


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


@pytest.mark.parametrize("existed", [True, False])
def test_killed_write_keeps_the_old_file(tmp_path: Path, existed: bool) -> None:
    target = tmp_path / "result.json"
    if existed:
        target.write_text("old")
    assert run(DIES_WRITING_A_FILE, target) == KILLED
    assert visible(tmp_path) == (["result.json"] if existed else [])
    assert not existed or target.read_text() == "old"
    write_text(target, "new")
    assert target.read_text() == "new"


def test_write_killed_at_any_moment_leaves_a_complete_file(tmp_path: Path) -> None:
    target = tmp_path / "result.txt"
    moment = random.Random(1)
    for _ in range(8):
        with subprocess.Popen([sys.executable, "-c", WRITES_FOR_EVER, str(target)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(0.02 + 0.02 * moment.random())
            writer.kill()
        assert visible(tmp_path) in ([], ["result.txt"])
        if target.exists():
            assert target.read_text() in ("a" * 300_000, "b" * 300_000)


def test_killed_write_keeps_the_old_folder(tmp_path: Path) -> None:
    target = tmp_path / "set"
    with atomic_folder(target) as temporary:
        temporary.joinpath("one").write_text("old")
    assert run(DIES_WRITING_A_FOLDER, target) == KILLED
    assert visible(tmp_path) == ["set"]
    assert visible(target) == ["one"]
    assert target.joinpath("one").read_text() == "old"


def test_kill_during_removal_leaves_no_partial_folder(tmp_path: Path) -> None:
    target = tmp_path / "set"
    with atomic_folder(target) as temporary:
        for name in ("one", "two", "three"):
            temporary.joinpath(name).write_text("old")
    assert run(DIES_REMOVING_THE_OLD_FOLDER, target) == KILLED
    assert {name: target.joinpath(name).read_text() for name in visible(target)} == {"one": "new", "two": "new"}


@pytest.mark.parametrize("context", [atomic_path, atomic_folder])
def test_failed_write_leaves_no_files(tmp_path: Path, context: Callable[[Path], AbstractContextManager[Path]]) -> None:
    def interrupted() -> None:
        with context(tmp_path / "x") as temporary:
            half = temporary / "one" if temporary.is_dir() else temporary
            half.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_successful_write_leaves_only_the_target(tmp_path: Path) -> None:
    for text in ("one", "two"):
        write_text(tmp_path / "deep" / "file", text)
        with atomic_folder(tmp_path / "deep" / "folder") as temporary:
            temporary.joinpath(text).write_text(text)
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")) == [
        *("deep", "deep/file", "deep/folder", "deep/folder/two"),
    ]
    assert (tmp_path / "deep" / "file").read_text() == "two"
    assert oct((tmp_path / "deep" / "file").stat().st_mode & 0o777) == "0o644"
    assert oct((tmp_path / "deep" / "folder").stat().st_mode & 0o777) == "0o755"


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"a": 1}}', b"\xff\xfe", b"[" * 100_000, b"[NaN]", b'{"a": -Infinity}', b"1e999"]
)
def test_invalid_json_is_corrupt(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "set.json"
    path.write_bytes(content)
    with pytest.raises(CorruptFileError, match=r"set\.json is not valid JSON"):
        read_json(path)


def test_json_is_read(tmp_path: Path) -> None:
    write_text(tmp_path / "x.json", '{"a": [1, "é"]}')
    assert read_json(tmp_path / "x.json") == {"a": [1, "é"]}


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1])
def test_checksum_matches_hashlib(tmp_path: Path, size: int) -> None:
    content = random.Random(size).randbytes(size)
    path = tmp_path / "data"
    path.write_bytes(content)
    assert sha256_of(path) == hashlib.sha256(content).hexdigest()


def test_uncreatable_folder_raises(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(GraphTrialError, match=r"cannot create the folder .*file/below"):
        make_folder(tmp_path / "file" / "below")
    assert make_folder(tmp_path / "a" / "b").is_dir()


def test_cache_follows_graphtrial_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHTRIAL_HOME", str(tmp_path))
    assert cache_home() == tmp_path
    monkeypatch.setenv("GRAPHTRIAL_HOME", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if sys.platform == "linux" and os.name == "posix":
        assert cache_home() == tmp_path / "cache" / "graphtrial"


def test_special_files_are_never_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for target in (tmp_path / "pipe", tmp_path / "folder", Path(os.devnull)):
        before = target.stat()
        with pytest.raises(GraphTrialError, match="name a file"):
            write_text(target, "text")
        assert target.stat().st_ino == before.st_ino
