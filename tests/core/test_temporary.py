"""Temporary folders: removed after their process, never while it runs."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from graphtrial.core.files import atomic_folder, write_text
from graphtrial.core.temporary import remove_stale_folders, staging_folder, stale_folders

DIES_IN_A_FILE = """
import os, signal, sys
from pathlib import Path
from graphtrial.core.files import atomic_path
with atomic_path(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
DIES_BETWEEN_TWO_FOLDERS = """
import os, signal, sys
from pathlib import Path
from graphtrial.core.files import atomic_folder
replace = os.replace
def replace_and_die(source, target):
    replace(source, target)
    os.kill(os.getpid(), signal.SIGKILL)
os.replace = replace_and_die
with atomic_folder(Path(sys.argv[1])) as temporary:
    (temporary / "one").write_text("new")
"""
LIVES = """
import sys
from pathlib import Path
from graphtrial.core.temporary import staging_folder
with staging_folder(Path(sys.argv[1])) as folder:
    print(folder, flush=True)
    sys.stdin.read()
"""


def killed(program: str, target: Path) -> None:
    done = subprocess.run([sys.executable, "-c", program, str(target)], timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL


def test_stale_temporary_folders_are_removed_by_the_next_writer(tmp_path: Path) -> None:
    killed(DIES_IN_A_FILE, tmp_path / "a.json")
    killed(DIES_IN_A_FILE, tmp_path / "b.json")
    assert len(stale_folders(tmp_path)) == 2
    assert len(stale_folders(tmp_path, "a.json")) == 1
    write_text(tmp_path / "a.json", "new")
    assert [path.name.split(".")[1] for path in stale_folders(tmp_path)] == ["b"]
    assert remove_stale_folders(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json"]


def test_interrupted_replacement_is_rolled_back(tmp_path: Path) -> None:
    target = tmp_path / "set"
    with atomic_folder(target) as temporary:
        (temporary / "one").write_text("old")
    killed(DIES_BETWEEN_TWO_FOLDERS, target)
    assert not target.exists()
    remove_stale_folders(tmp_path)
    assert (target / "one").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_temporary_folder_of_a_running_process_is_kept(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LIVES, str(tmp_path / "x")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert folder.is_dir()
        assert stale_folders(tmp_path) == []
        assert remove_stale_folders(tmp_path) == []
        with staging_folder(tmp_path / "x"):
            assert folder.is_dir()
        process.kill()
        process.wait()
        assert stale_folders(tmp_path) == [folder]
    assert remove_stale_folders(tmp_path) == [folder]


def test_folder_removed_before_it_is_locked_is_created_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    removed = [tempfile.mkdtemp(dir=tmp_path)]
    Path(removed[0]).rmdir()
    create = tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", lambda **options: removed.pop() if removed else create(**options))
    with staging_folder(tmp_path / "target") as folder:
        assert folder.is_dir()
    assert not removed


def test_unrelated_files_are_kept(tmp_path: Path) -> None:
    (tmp_path / ".x.abcdefgh.graphtrial.tmp").symlink_to(tmp_path)
    (tmp_path / ".y.tmp").mkdir()
    (tmp_path / "z.graphtrial.tmp").mkdir()
    (tmp_path / ".w.abcdefgh.graphtrial.tmp").write_text("a file")
    assert remove_stale_folders(tmp_path) == []
    assert len(list(tmp_path.iterdir())) == 4


def test_very_long_names_are_supported(tmp_path: Path) -> None:
    write_text(tmp_path / ("n" * 250), "x")
    assert [path.name for path in tmp_path.iterdir()] == ["n" * 250]
