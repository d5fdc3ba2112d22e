"""Disks that are full or read-only, odd paths, clocks that jump, many writers, trials that exhaust memory or hang."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner
from tests.helpers.results import results
from tests.helpers.tally import Tally

from graphtrial.cli.main import app
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.plugins.loader import Plugin, load_plugin, unload_plugin
from graphtrial.execution import run_trials
from graphtrial.execution.processes import Processes
from graphtrial.studies import ModelEntry, Study, load_study
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.trials import Store, TrialSpec
from graphtrial.trials.heartbeat import is_running

pytestmark = pytest.mark.slow

SMALL = ["run", "csl", "gin", "--width", "8", "--layers", "2", "--seeds", "1", "--splits", "2", "--max-epochs", "3"]


def call(*words: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command of the command line."""
    line = [sys.executable, "-m", "graphtrial", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, check=False, **options)  # type: ignore[call-overload]


def sound(path: Path) -> bool:
    with sqlite3.connect(path) as connection:
        verdict = connection.execute("PRAGMA integrity_check").fetchone()
    connection.close()
    return bool(verdict == ("ok",))


@pytest.fixture
def expected(tmp_path: Path) -> dict[str, object]:
    """The results of the small study, undisturbed."""
    store = Store(tmp_path / "calm" / "s.sqlite")
    study = Study(
        "s", "csl", (ModelEntry("gin", {"width": 8, "layers": 2}),), seeds=1, splits=2, rules={"stopping.max_epochs": 3}
    )
    run_trials(study.trials(), store, workers=0)
    return results(store)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes; the test is skipped where none may be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no file system may be mounted here; which takes the rights of root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_full_disk_gives_one_line_error_and_loses_no_result(
    tiny_disk: Path, expected: dict[str, object], times: int, tally: Tally
) -> None:
    path, ballast = tiny_disk / "results" / "s.sqlite", tiny_disk / "ballast"
    for remaining in (0, 40_000, 120_000, 300_000, 700_000)[: None if times else 2]:
        shutil.rmtree(path.parent, ignore_errors=True)
        ballast.write_bytes(b"")
        free = shutil.disk_usage(tiny_disk).free
        ballast.write_bytes(bytes(free - remaining))
        done = call(*SMALL, "--store", path)
        assert done.returncode != 0 or results(Store(path)) == expected
        assert "Traceback" not in done.stderr
        assert "graphtrial:" in done.stderr or done.returncode == 0
        ballast.unlink()
        assert not path.exists() or sound(path)
        assert CliRunner().invoke(app, [*SMALL, "--store", str(path), "--workers", "0"]).exit_code == 0
        assert results(Store(path)) == expected
        tally.add("disk", "full (tmpfs of 2 MB)", "one-line error, store intact, same bits after freeing space")


@pytest.fixture
def obedient() -> list[str]:
    """The words before a command that make it heed read-only folders: root must give up the right to write anywhere."""
    if os.geteuid() != 0:
        return []
    if not shutil.which("setpriv"):
        pytest.skip("root may write everywhere, and there is no setpriv to take that right away")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def test_read_only_folder_gives_one_line_error(obedient: list[str], tmp_path: Path, tally: Tally) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o555)
    line = [*obedient, sys.executable, "-m", "graphtrial"]
    for words, home in (([*SMALL, "--store", folder / "s.sqlite"], tmp_path), (["data", "prepare", "csl"], folder)):
        environment = {**os.environ, "GRAPHTRIAL_HOME": str(home / "home")}
        done = subprocess.run(
            [*line, *map(str, words)], env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 2
        assert "cannot" in done.stderr
        assert "Traceback" not in done.stderr
        assert list(folder.iterdir()) == []
        tally.add("disk", "read-only folder for store or cache", "one-line error, nothing written")


def test_store_works_in_paths_with_special_characters(
    tmp_path: Path, expected: dict[str, object], tally: Tally
) -> None:
    path = tmp_path / "with späces, 'quotes' & ünïcode ☃ %41 #1?x=y" / "my störe.sqlite"
    for words in ([*SMALL, "--workers", "0"], ["doctor"], ["status"]):
        result = CliRunner().invoke(app, [*words, "--store", str(path), "--json"])
        assert result.exit_code == 0, result.output
    assert results(Store(path)) == expected
    tally.add("paths", "spaces, quotes, unicode, %, #, ?", "same bits; readable by doctor and status")


JUMPS = """
import sys, time, itertools
true, jumps = time.time, itertools.cycle([0, -86400 * 400, 86400 * 4000, -1e9])
time.time = lambda: true() + next(jumps)
from graphtrial.cli.start import main
main()
"""


def test_clock_jumps_do_not_change_results(tmp_path: Path, expected: dict[str, object], tally: Tally) -> None:
    path = tmp_path / "s.sqlite"
    line = [sys.executable, "-c", JUMPS, *SMALL, "--store", str(path), "--workers", "0", "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert results(Store(path)) == expected
    assert all(epoch.seconds >= 0 for trial in expected for epoch in Store(path).history(trial))
    tally.add("clock", "jumps by days and decades at every call (patched `time.time`)", "same bits, no negative times")


def _write(path: Path, specs: list[dict[str, object]], process: int, seconds: float) -> None:
    store, deadline = Store(path), time.monotonic() + seconds
    epochs = [Epoch(n, 1e-3, 1 / n, 2 / n, 50.0 + n, 0.1) for n in range(1, 6)]
    round_ = 0
    while time.monotonic() < deadline:
        spec = TrialSpec.from_dict({**specs[round_ % len(specs)], "seed": 1000 * process + round_})  # type: ignore[arg-type]
        store.start(spec, "accuracy", True, {"process": process})
        for epoch in epochs:
            store.add_epochs(spec.id, [epoch])
        store.finish(spec.id, Outcome("done", 1, epochs, {"test": float(process)}))
        round_ += 1


def test_concurrent_writers_survive_kills(tmp_path: Path, times: int, tally: Tally) -> None:
    path, seconds = tmp_path / "s.sqlite", 60.0 if times else 1.5
    study = Study(
        "s", "csl", (ModelEntry("gin", {"width": 8, "layers": 2}),), seeds=1, splits=2, rules={"stopping.max_epochs": 3}
    )
    specs = [spec.to_dict() for spec in study.trials()]
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["graphtrial.execution.worker"])
    writers = [context.Process(target=_write, args=(path, specs, n, seconds)) for n in range(8)]
    for writer in writers:
        writer.start()
    for victim in writers[:3]:
        time.sleep(seconds / 4)
        if victim.pid is not None:
            os.kill(victim.pid, signal.SIGKILL)
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers[3:]] == [0] * 5
    assert sound(path)
    store = Store(path)
    records = store.trials()
    assert all(len(store.history(r.id)) == 5 for r in records if r.is_finished)
    assert all(
        r.spec.id == r.id and r.scores == {"test": float(r.environment["process"])} for r in records if r.is_finished
    )
    assert sum(not r.is_finished for r in records) <= 3
    checked = f"{len(records):,} trials, each complete; store intact; 3 writers killed"
    tally.add("store", f"8 processes write for {seconds:.0f} s", checked)


def test_two_studies_on_one_store_run_each_trial_once(tmp_path: Path, tally: Tally) -> None:
    text = 'title = "t"\ndataset = "csl"\nseeds = 1\nsplits = {}\nrules = {{stopping.max_epochs = 4}}\n'
    text += '[[models]]\nname = "gin"\nwidth = 8\n'
    files = [tmp_path / "one.toml", tmp_path / "two.toml"]
    for file, splits in zip(files, (2, 3), strict=True):
        file.write_text(text.format(splits))
    path = tmp_path / "s.sqlite"
    line = [sys.executable, "-m", "graphtrial", "study"]
    both = [
        subprocess.Popen(
            [*line, str(file), "--store", str(path), "--workers", workers, "--json"], stdout=subprocess.DEVNULL
        )
        for file, workers in zip(files, "01", strict=True)
    ]
    assert [process.wait(timeout=300) for process in both] == [0, 0]
    store, calm = Store(path), Store(tmp_path / "calm" / "s.sqlite")
    run_trials(load_study(str(files[1])).trials(), calm, workers=0)
    assert results(store) == results(calm)
    assert [record.starts for record in store.trials()] == [1, 1, 1]
    tally.add("store", "two concurrent studies with common trials", "each trial run once, same bits")


MODEL = """
import resource, time
import torch
import graphtrial as gt

@gt.MODELS.register("{name}")
class Bad(gt.Conv):
    "Bad."
    def __init__(self, width: int):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
    def forward(self, graph, x, e):
        {body}
        return self.linear(x), e
"""
DYING = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
HUNGRY = "resource.setrlimit(resource.RLIMIT_AS, (6 << 30,) * 2); [torch.ones(1 << 28) for _ in range(100)]"


@pytest.fixture
def plugin(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Plugin]:
    """A model that does something bad."""
    file = tmp_path / "bad.py"
    file.write_text(MODEL.format(name="bad", body=request.param))
    loaded = load_plugin(file)
    yield loaded
    unload_plugin(loaded)


def beside_a_good_one(rules: dict[str, float] | None = None) -> list[TrialSpec]:
    rows = (ModelEntry("bad", {"width": 8, "layers": 1}), ModelEntry("gin", {"width": 8, "layers": 2}))
    return Study("s", "csl", rows, seeds=1, splits=1, rules={"stopping.max_epochs": 2, **(rules or {})}).trials()


@pytest.mark.parametrize("plugin", [HUNGRY], indirect=True, ids=["hungry"])
def test_out_of_memory_trial_does_not_abort_the_study(plugin: Plugin, tmp_path: Path, tally: Tally) -> None:
    store, trials = Store(tmp_path / "s.sqlite"), beside_a_good_one()
    run_trials(trials, store, workers=2)
    assert [store.find(trial.id).status for trial in trials] == ["oom", "done"]
    tally.add("memory", "a trial exceeds its memory limit", "recorded as `oom`, the others finish")


@pytest.mark.parametrize("plugin", [DYING], indirect=True, ids=["dying"])
def test_killed_trial_does_not_abort_the_study(plugin: Plugin, tmp_path: Path, tally: Tally) -> None:
    store, trials = Store(tmp_path / "s.sqlite"), beside_a_good_one()
    run_trials(trials, store, workers=2)
    assert [store.find(trial.id).status for trial in trials] == ["failed", "done"]
    assert "memory ran out" in (store.find(trials[0].id).error or "")
    tally.add("memory", "a trial is killed by SIGKILL, as by the OOM killer", "recorded as failed, the others finish")


@pytest.mark.parametrize("plugin", ["time.sleep(1e6)"], indirect=True, ids=["asleep"])
def test_hanging_trial_is_killed_at_its_time_limit(plugin: Plugin, tmp_path: Path, tally: Tally) -> None:
    store, trials = Store(tmp_path / "s.sqlite"), beside_a_good_one({"stopping.max_hours": 1e-3})
    run_trials(trials, store, executor=Processes(2, grace_seconds=2))
    assert [store.find(trial.id).status for trial in trials] == ["failed", "done"]
    assert "killed by the watchdog" in (store.find(trials[0].id).error or "")
    assert not is_running(store, trials[0].id)
    tally.add("time", "a trial hangs", "killed by the watchdog at its time limit, the others finish")


def test_missing_or_invalid_store_gives_one_line_error(tmp_path: Path) -> None:
    (tmp_path / "s.sqlite").mkdir()
    with pytest.raises(GraphTrialError, match="cannot"):
        Store(tmp_path / "s.sqlite")
