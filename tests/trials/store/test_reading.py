"""A store that is only read: nothing is made beside it, on any disk and whatever a killed process left."""

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
def test_a_store_on_a_read_only_disk_is_read(tmp_path: Path) -> None:
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
        pytest.skip(f"this machine lets nobody mount: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("status: 0\nreport: 0\nexport: 0\n"), done.stdout


def test_uncommitted_writes_are_rolled_back(tmp_path: Path) -> None:
    path = sample_store(tmp_path / "s" / "store.sqlite").path
    before = Store(path).trials()
    assert run_forked(DIES_IN_A_TRANSACTION, path) == -signal.SIGKILL
    left = files(path.parent)
    assert set(left) == {"store.sqlite", "store.sqlite-journal"}
    assert Store(path, read_only=True).trials() == before
    assert files(path.parent) == left  # for who reads, a copy is mended
    assert Store(path).trials() == before
    assert set(files(path.parent)) == {"store.sqlite"}


def test_a_write_ahead_log_and_another_schema_get_one_line(tmp_path: Path) -> None:
    path = sample_store(tmp_path / "store.sqlite").path
    change(path, "PRAGMA journal_mode = WAL")
    change(path, "UPDATE about SET value = '2' WHERE key = 'schema'")
    with pytest.raises(GraphTrialError, match="has schema 2; this version of graphtrial reads only schema 3"):
        Store(path, read_only=True)
    change(path, "UPDATE about SET value = '3' WHERE key = 'schema'")
    with pytest.raises(GraphTrialError, match="write-ahead log"):
        Store(path)
