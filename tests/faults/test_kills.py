"""SIGKILL in the middle of every command that writes: nothing finished is lost, nothing is there twice.

The short form kills each command once, as soon as it has begun to write; the long form at many random moments.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.cli import CliRunner
from tests.helpers.results import LONGER, results
from tests.helpers.tally import Tally

from graphtrial.cli.main import app
from graphtrial.core.files import cache_home
from graphtrial.core.temporary import SUFFIX
from graphtrial.graphs import storage
from graphtrial.trials import Store

pytestmark = pytest.mark.slow

RUN = ["run", "csl", "gin", "--width", "8", "--encoding", "laplacian:4", "--seeds", "1", "--splits", "2"]
RUN += ["--max-epochs", "12"]

Moment = float | Callable[[], bool]
"""When a command is killed: after so many seconds of work, or as soon as something has happened."""


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "graphtrial", *map(str, words)]


def work_of(group: int) -> float:
    """Return the seconds that the processes of a group have computed: the same on a busy machine as on a quiet one."""
    ticks = 0
    for folder in Path("/proc").iterdir():
        try:
            facts = (folder / "stat").read_text().rpartition(")")[2].split() if folder.name.isdigit() else []
        except OSError:
            continue
        if facts and int(facts[2]) == group:
            ticks += sum(map(int, facts[11:15]))  # its own and that of its children that have ended
    return ticks / os.sysconf("SC_CLK_TCK")


def undisturbed(words: Sequence[object], *, measured: bool) -> float:
    """Run a command to its end; return how much its processes worked, or run it in this process if not `measured`."""
    if measured:
        return _watched(command(*words), None)[0]
    result = CliRunner().invoke(app, [*map(str, words), *(["--workers", "0"] if words[0] in ("run", "study") else [])])
    assert result.exit_code == 0, result.output
    return 0.0


def kill(words: Sequence[object], moment: Moment) -> bool:
    """Start a command, kill all its processes at that moment, and tell whether it was still running.

    One that was done after less work is started again and killed sooner: it may find a part of the work done.
    """
    sooner = [moment] if callable(moment) else [moment, moment / 2, moment / 4]
    return any(_watched(command(*words), each)[1] for each in sooner)


def writing(folder: Path) -> Callable[[], bool]:
    """Return a function that tells whether a staging folder with content lies in this one."""
    return lambda: any(folder.glob(f".*{SUFFIX}/new/*"))


def _watched(words: Sequence[str], moment: Moment | None) -> tuple[float, bool]:
    process = subprocess.Popen(
        words, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    worked = 0.0
    while process.poll() is None:
        if not callable(moment):
            worked = max(worked, work_of(process.pid))
        if moment() if callable(moment) else moment is not None and worked >= moment:
            os.killpg(process.pid, signal.SIGKILL)  # the driver, the fork server and every worker at once
            process.communicate()
            return worked, True
        time.sleep(0.002 if callable(moment) else 0.03)
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    return worked, False


def moments(work: float, count: int, name: str) -> list[float]:
    """Return moments in the later part of a command, where it is past its imports."""
    rng = np.random.default_rng([*hashlib.sha256(name.encode()).digest()[:4], os.getpid()])
    return list(rng.uniform(0.3, 1.0, count) * work)


def check_store(path: Path, finished: dict[str, object]) -> None:
    """Check after a kill that the file is sound, and that what was finished before still is, unchanged."""
    if not path.exists():
        assert not finished
        return
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    if not tables:  # killed before the first table was made
        return
    now = finished_in(path)
    assert {trial: now.get(trial) for trial in finished} == finished
    finished |= now


def finished_in(path: Path) -> dict[str, object]:
    store = Store(path)
    return {r.id: (r.status, r.scores, r.params, r.epochs) for r in store.trials() if r.is_finished}


@pytest.mark.parametrize("name", [pytest.param("run", marks=pytest.mark.long), "study"])
def test_study_is_bit_exact_after_sigkill_at_random_moments(
    name: str, tmp_path: Path, times: int, tally: Tally
) -> None:
    file = tmp_path / "study.toml"
    file.write_text(LONGER)
    calm, rough = tmp_path / "calm" / "s.sqlite", tmp_path / "rough" / "s.sqlite"
    words = RUN if name == "run" else ["study", str(file)]
    work = undisturbed([*words, "--store", calm, "--json"], measured=bool(times))
    expected, kills = results(Store(calm)), 0

    def an_epoch_is_stored() -> bool:
        return rough.exists() and any(Store(rough).history(record.id) for record in Store(rough).trials())

    for begun in range(0, times or 1, 5):  # a fresh store now and then, since a finished one has nothing to lose
        shutil.rmtree(rough.parent, ignore_errors=True)
        finished: dict[str, object] = {}
        randomly = moments(work, min(5, times - begun), f"{name}{begun}")
        for moment in randomly if times else [an_epoch_is_stored]:
            kills += kill([*words, "--store", rough, "--json"], moment)
            check_store(rough, finished)
        undisturbed([*words, "--store", rough, "--json"], measured=bool(times))
        assert results(Store(rough)) == expected
        check_store(rough, finished)
    assert kills
    checked = "store intact, no finished result lost or duplicated, same final bits"
    tally.add("SIGKILL", f"`graphtrial {name}` with all its processes", checked, kills)


def test_preparation_killed_at_random_moments_leaves_complete_folders_or_none(
    tmp_path: Path, times: int, tally: Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["data", "prepare", "csl", "--json"]
    monkeypatch.setenv("GRAPHTRIAL_HOME", str(tmp_path / "calm"))
    work = undisturbed(words, measured=bool(times))
    expected, kills = _arrays(), 0
    for number in range(times or 3):
        if kills and not times:
            break
        home = tmp_path / f"rough{number // 5 if times else number}"
        monkeypatch.setenv("GRAPHTRIAL_HOME", str(home))
        (at,) = moments(work, 1, f"prepare{number}")
        kills += kill(words, at if times else writing(home / "datasets"))
        for folder in (cache_home() / "datasets").glob("csl-????????????????"):
            for part in ("graphs", "splits"):
                storage.load(folder / part)
        if number % 5 == 4:
            undisturbed(words, measured=True)
            assert _arrays() == expected
    undisturbed(words, measured=bool(times))
    assert _arrays() == expected
    assert kills
    tally.add("SIGKILL", "`graphtrial data prepare`", "complete folders or none, same final bytes", kills)


def _arrays() -> dict[str, bytes]:
    home = cache_home() / "datasets"
    return {str(path.relative_to(home)): path.read_bytes() for path in sorted(home.glob("csl-*/*/*")) if path.is_file()}


def test_report_killed_at_random_moments_is_complete_or_absent(tmp_path: Path, times: int, tally: Tally) -> None:
    path = tmp_path / "s.sqlite"
    built = CliRunner().invoke(app, [*RUN[:-1], "2", "--store", str(path), "--workers", "0"])
    assert built.exit_code == 0, built.output
    before = finished_in(path)
    work = undisturbed(["report", "--store", path, "--out", tmp_path / "calm"], measured=bool(times))
    expected = _pages(tmp_path / "calm")
    assert expected
    kills = 0
    for moment in moments(work, times, "report") if times else [writing(tmp_path)]:
        kills += kill(["report", "--store", path, "--out", tmp_path / "rough"], moment)
        for name, content in _pages(tmp_path / "rough").items():
            assert content == expected[name]
    undisturbed(["report", "--store", path, "--out", tmp_path / "rough"], measured=bool(times))
    assert _pages(tmp_path / "rough") == expected
    assert finished_in(path) == before
    assert kills
    tally.add("SIGKILL", "`graphtrial report`", "complete report or none, same final bytes, store unchanged", kills)


def _pages(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(files)}
