"""Every command that takes a store, given hostile and corrupt stores: one-line errors, no side effects."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main
from tests.helpers.cli import CliRunner
from tests.helpers.hostile import HARMLESS, PARTLY, REFUSED, Hostile
from tests.helpers.sampling import chunk
from tests.helpers.sites import record

from graphtrial.cli.main import app
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials import Store, TrialSpec

READING = {
    ("list",): ["list", "studies", "--only", "demo"],
    ("status",): ["status"],
    ("show",): ["show", "{trial}"],
    ("report",): ["report", "--out", "site", "--no-pictures"],
    ("reproduce",): ["reproduce", "{trial}", "--workers", "0"],
    ("watch",): ["watch", "--once"],
    ("compare",): ["compare", "mlp", "gcn"],
    ("ranks",): ["ranks"],
    ("export",): ["export"],
    ("doctor",): ["doctor"],
    ("wikics", "mapper"): ["wikics", "mapper", "csl", "--trial", "{trial}", "--out", "mapper.png"],
    ("store", "ship"): ["store", "ship", "--out", "copy.sqlite"],
}
WRITING = {
    ("run",): [
        "run",
        "csl",
        "gcn",
        "--budget",
        "5k",
        "--workers",
        "0",
        "--rule",
        "stopping.max_epochs=1",
        "--seeds",
        "1",
    ],
    ("kernel",): ["kernel", "csl", "vertex-histogram", "--workers", "0", "--repetitions", "1", "--folds", "1"],
    ("study",): ["study", "demo", "--workers", "0"],
    ("tune",): [
        *("tune", "csl", "gcn", "--budget", "1trials", "--params", "5k", "--workers", "0"),
        *("--max-epochs", "1", "--seeds", "1", "--splits", "1"),
    ],
    ("store", "merge"): ["store", "merge", "sound.sqlite"],
}
READS_ANY_STORE = [("list",)]
"""Counts what is done of each study where there is a store, and shows the studies where there is none."""
ALL = {**REFUSED, **PARTLY, **HARMLESS}


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield every command that has an option --store."""
    if hasattr(command, "commands"):
        for name, below in command.commands.items():
            yield from commands(below, (*words, name))
    elif any("--store" in parameter.opts for parameter in command.params):
        yield words


@cache
def trials() -> list[TrialSpec]:
    """Return two trials that take no time to run again."""
    rows = tuple(ModelEntry(model, {"width": 8, "layers": 2}) for model in ("mlp", "gcn"))
    return Study("small", "csl", rows, seeds=1, splits=1, rules={"stopping.max_epochs": 1}).trials()


def test_every_command_with_a_store_option_is_covered() -> None:
    assert set(commands(typer.main.get_command(app))) == {*READING, *WRITING}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A store with two finished trials."""
    store = Store(tmp_path_factory.mktemp("sound") / "s.sqlite")
    for number, spec in enumerate(trials()):
        record(store, spec, 50.0 + number, epochs=3)
    return store.path.read_bytes()


@pytest.fixture
def hostile(request: pytest.FixtureRequest, tmp_path: Path, sound: bytes, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hostile store some folders below `tmp_path`, beside a folder that it wants."""
    make: Hostile = ALL[request.param]
    path = tmp_path / "a" / "b" / "theirs" / "s.sqlite"
    for folder in (path.parent, tmp_path / "a" / "b" / "work"):
        folder.mkdir(parents=True)
    path.write_bytes(sound)
    make(path)
    for folder in (tmp_path, tmp_path / "a", tmp_path / "a" / "b"):
        (folder / "victim").mkdir()
        (folder / "victim" / "keep").write_text("precious")
        (folder / "keep").write_text("precious")
    monkeypatch.chdir(tmp_path / "a" / "b" / "work")
    (Path.cwd() / "sound.sqlite").write_bytes(sound)
    (Path.cwd() / "keep").write_text("precious")
    return path


def outside(top: Path) -> dict[Path, tuple[int, int]]:
    """Return the files and folders that no command may touch, with their modification times."""
    work = top / "a" / "b" / "work"
    actual = [path for path in [top, *top.rglob("*")] if work not in (path, *path.parents)]
    return {path: (path.lstat().st_mtime_ns, path.lstat().st_size) for path in [*actual, work / "keep"]}


def tell(words: list[str], *more: str) -> tuple[int, str]:
    """Call a command; return its exit code and output. An uncaught exception is an error."""
    result = CliRunner().invoke(app, [*words, *more])
    assert result.exception is None or isinstance(result.exception, SystemExit), f"{words}: {result.exception!r}"
    assert "Traceback" not in result.output
    assert len(result.stderr.strip().splitlines()) <= 1, f"{words}: {result.stderr}"
    assert len(result.stderr) < 2500
    return result.exit_code, result.stderr


@pytest.mark.parametrize("hostile", sorted(ALL), indirect=True)
def test_hostile_store_gives_one_line_error_and_no_side_effects(
    hostile: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    case = request.node.callspec.params["hostile"]
    trial = "" if case.startswith("an id") else trials()[0].id[:8]  # of all ids, whatever they are
    before = outside(tmp_path)
    for name, words in chunk([*READING.items()], sorted(ALL).index(case), 5, request):
        code, message = tell([word.format(trial=trial) for word in words], "--store", str(hostile))
        if case in REFUSED and name not in READS_ANY_STORE:
            assert code in (1, 2), f"{name} took it"
            assert message or name == ("doctor",), f"{name} gave no reason"
        assert outside(tmp_path) == before, f"{name} changed something"
    code, _ = tell(["store", "merge", str(hostile), "--store", "merged/all.sqlite"])
    assert code in ((1, 2) if case in REFUSED else (0,)) or case in PARTLY
    assert outside(tmp_path) == before


@pytest.mark.parametrize("hostile", sorted(REFUSED), indirect=True)
def test_writers_refuse_hostile_stores(hostile: Path, request: pytest.FixtureRequest) -> None:
    case = request.node.callspec.params["hostile"]
    if case == "an empty file":
        pytest.skip("who writes may begin with an empty file")
    before = hostile.read_bytes() if hostile.is_file() and not hostile.is_symlink() else None
    for name, words in chunk([*WRITING.items()], sorted(REFUSED).index(case), 2, request):
        code, message = tell(words, "--store", str(hostile))
        assert code == 2, f"{name} took it"
        assert message.startswith("graphtrial: ")
    assert before is None or hostile.read_bytes() == before
