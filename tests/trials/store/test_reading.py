"""Read-only access: no files are created, on any disk and after killed processes."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.helpers.forked import run_forked
from tests.helpers.sites import sample_store
from tests.helpers.stores import change

from graphtrial.core.errors import GraphTrialError
from graphtrial.studies import Study
from graphtrial.trials import Store

READ_ONLY = """
set -e
mount --bind "$1" "$1"
mount -o remount,ro,bind "$1"
if touch "$1/x" 2>/dev/null; then exit 77; fi
shift
exec "$@"
"""
READS = """
import sys
from typer.testing import CliRunner
from graphtrial.cli.main import app
store, out = sys.argv[1:]
found = {}
for words in (["status"], ["report", "--out", out, "--no-pictures"], ["export"]):
    result = CliRunner().invoke(app, [*words, "--store", store])
    found[words[0]] = result.exit_code
    sys.stderr.write(result.stderr)
for name, code in found.items():
    print(f"{name}: {code}")
"""
DIES_IN_A_TRANSACTION = """
import os, signal, sys
from pathlib import Path
from graphtrial.trials.store.database import writing
with writing(Path(sys.argv[1])) as connection:
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("UPDATE trials SET error = hex(zeroblob(200000))")  # more than the cache holds: it is written
    os.kill(os.getpid(), signal.SIGKILL)
"""


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_reading_changes_no_file(tmp_path: Path) -> None:
    path = sample_store(tmp_path / "s" / "store.sqlite").path
    before = files(path.parent), path.parent.stat().st_mtime_ns
    store = Store(path, read_only=True)
    for record in store.trials():
        store.history(record.id)
    list(store.examine())
    assert (files(path.parent), path.parent.stat().st_mtime_ns) == before


def test_read_only_store_refuses_writes(tmp_path: Path, study: Study) -> None:
    path = sample_store(tmp_path / "store.sqlite").path
    store, spec = Store(path, read_only=True), study.trials()[0]
    for step in (
        lambda: store.start(spec, "accuracy", True, {}),
        lambda: store.mark(spec.id, "failed"),
        lambda: store.take([]),
    ):
        with pytest.raises(GraphTrialError, match="opened read-only"):
            step()
    with pytest.raises(GraphTrialError, match="there is no store"):
        Store(tmp_path / "none" / "store.sqlite", read_only=True)
    assert not (tmp_path / "none").exists()


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare to make a disk read-only")
def test_store_on_read_only_disk_is_readable(tmp_path: Path) -> None:
    path = sample_store(tmp_path / "disk" / "store.sqlite").path
    call = ["unshare", "-m", "sh", "-c", READ_ONLY, "sh", str(path.parent)]
    done = subprocess.run(
        [*call, sys.executable, "-c", READS, str(path), str(tmp_path / "site")],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    if "mount" in done.stderr or "unshare" in done.stderr or done.returncode == 77:
        pytest.skip(f"mounting is not permitted here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("status: 0\nreport: 0\nexport: 0\n"), done.stdout


def test_uncommitted_writes_are_rolled_back(tmp_path: Path) -> None:
    path = sample_store(tmp_path / "s" / "store.sqlite").path
    before = Store(path).trials()
    assert run_forked(DIES_IN_A_TRANSACTION, path) == -signal.SIGKILL
    left = files(path.parent)
    assert set(left) == {"store.sqlite", "store.sqlite-journal"}
    assert Store(path, read_only=True).trials() == before
    assert files(path.parent) == left  # readers repair a copy
    assert Store(path).trials() == before
    assert set(files(path.parent)) == {"store.sqlite"}


def test_write_ahead_log_and_other_schema_give_one_line_error(tmp_path: Path) -> None:
    path = sample_store(tmp_path / "store.sqlite").path
    change(path, "PRAGMA journal_mode = WAL", "UPDATE about SET value = '2' WHERE key = 'schema'")
    before = files(tmp_path)
    for read_only in (True, False):
        with pytest.raises(GraphTrialError, match="has schema 2; this version of graphtrial reads only schema 3"):
            Store(path, read_only=read_only)
    assert files(tmp_path) == before


def test_a_write_ahead_log_without_a_writer_is_read_and_stays(tmp_path: Path) -> None:
    path = sample_store(tmp_path / "store.sqlite").path
    expected = Store(path).trials()
    change(path, "PRAGMA journal_mode = WAL")
    before = files(tmp_path)
    assert Store(path, read_only=True).trials() == expected
    assert files(tmp_path) == before


KILLED_IN_A_SESSION = """
import os, signal, sys
from pathlib import Path
from graphtrial.trials import Store
store = Store(Path(sys.argv[1]))
with store.kept_open():
    store.mark(sys.argv[2], "failed", "told before the kill")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_commits_of_a_killed_session_are_read_from_the_log(tmp_path: Path, study: Study) -> None:
    spec, path = study.trials()[0], tmp_path / "s" / "store.sqlite"
    Store(path).start(spec, "accuracy", True, {})
    killed = subprocess.run([sys.executable, "-c", KILLED_IN_A_SESSION, str(path), spec.id], timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert set(files(path.parent)) == {f"store.sqlite{end}" for end in ("", "-wal", "-shm")}
    copied = tmp_path / "copied" / "store.sqlite"
    copied.parent.mkdir()
    for end in ("", "-wal"):  # as somebody copies a store to another machine
        shutil.copyfile(f"{path}{end}", f"{copied}{end}")
    before = files(copied.parent)
    for store in (Store(path, read_only=True), Store(copied, read_only=True)):
        assert [record.error for record in store.trials()] == ["told before the kill"]
    assert files(copied.parent) == before
    for place in (path, copied):  # the next writer is not locked out and leaves one file
        Store(place).mark(spec.id, "failed", "told after it")
        assert set(files(place.parent)) == {"store.sqlite"}
        assert [record.error for record in Store(place, read_only=True).trials()] == ["told after it"]
