"""SIGKILL at random moments of every command that writes: no finished result is lost or duplicated."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.cli import CliRunner
from tests.helpers.results import LONGER, results
from tests.helpers.tally import Tally

from graphtrial.cli.main import app
from graphtrial.core.files import cache_home
from graphtrial.graphs import storage
from graphtrial.trials import Store

pytestmark = pytest.mark.slow

RUN = ["run", "csl", "gin", "--width", "8", "--encoding", "laplacian:4", "--seeds", "1", "--splits", "2"]
RUN += ["--max-epochs", "12"]


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


def undisturbed(words: Sequence[str]) -> float:
    """Run a command to its end and return how much its processes worked."""
    return _watched(words, None)[0]


def kill(words: Sequence[str], moment: float) -> bool:
    """Start a command, kill all its processes when they have worked so much, and tell whether it was still running.

    One that was done before is started again and killed sooner: it may find a part of the work done.
    """
    return any(_watched(words, sooner * moment)[1] for sooner in (1.0, 0.5, 0.25))


def _watched(words: Sequence[str], moment: float | None) -> tuple[float, bool]:
    process = subprocess.Popen(
        words, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    worked = 0.0
    while process.poll() is None:
        worked = max(worked, work_of(process.pid))
        if moment is not None and worked >= moment:
            os.killpg(process.pid, signal.SIGKILL)  # the driver, the fork server and every worker at once
            process.communicate()
            return worked, True
        time.sleep(0.03)
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


@pytest.mark.parametrize(("name", "short"), [pytest.param("run", 2, marks=pytest.mark.long), ("study", 2)])
def test_study_is_bit_exact_after_sigkill_at_random_moments(
    name: str, short: int, tmp_path: Path, times: int, tally: Tally
) -> None:
    file = tmp_path / "study.toml"
    file.write_text(LONGER)
    calm, rough = tmp_path / "calm" / "s.sqlite", tmp_path / "rough" / "s.sqlite"
    words = RUN if name == "run" else ["study", str(file)]
    work = undisturbed(command(*words, "--store", calm, "--json"))
    expected, kills = results(Store(calm)), 0
    for begun in range(0, times or short, 5):  # a fresh store now and then, since a finished one has nothing to lose
        shutil.rmtree(rough.parent, ignore_errors=True)
        finished: dict[str, object] = {}
        for moment in moments(work, min(5, (times or short) - begun), f"{name}{begun}"):
            kills += kill(command(*words, "--store", rough, "--json"), moment)
            check_store(rough, finished)
        undisturbed(command(*words, "--store", rough, "--json"))
        assert results(Store(rough)) == expected
        check_store(rough, finished)
    assert kills
    checked = "store intact, no finished result lost or duplicated, same final bits"
    tally.add("SIGKILL", f"`graphtrial {name}` with all its processes", checked, kills)


def test_preparation_killed_at_random_moments_leaves_complete_folders_or_none(
    tmp_path: Path, times: int, tally: Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = command("data", "prepare", "csl", "--json")
    monkeypatch.setenv("GRAPHTRIAL_HOME", str(tmp_path / "calm"))
    work = undisturbed(words)
    expected, kills = _arrays(), 0
    for number, moment in enumerate(moments(work, times or 2, "prepare")):
        monkeypatch.setenv("GRAPHTRIAL_HOME", str(tmp_path / f"rough{number // 5}"))
        kills += kill(words, moment)
        for folder in (cache_home() / "datasets").glob("csl-????????????????"):
            for part in ("graphs", "splits"):
                storage.load(folder / part)
        if number % 5 == 4:
            undisturbed(words)
            assert _arrays() == expected
    undisturbed(words)
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
    work = undisturbed(command("report", "--store", path, "--out", tmp_path / "calm"))
    expected = _pages(tmp_path / "calm")
    assert expected
    kills = 0
    for moment in moments(work, times or 1, "report"):
        kills += kill(command("report", "--store", path, "--out", tmp_path / "rough"), moment)
        for name, content in _pages(tmp_path / "rough").items():
            assert content == expected[name]
    undisturbed(command("report", "--store", path, "--out", tmp_path / "rough"))
    assert _pages(tmp_path / "rough") == expected
    assert finished_in(path) == before
    assert kills
    tally.add("SIGKILL", "`graphtrial report`", "complete report or none, same final bytes, store unchanged", kills)


def _pages(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(files)}
