"""No command imports or calls code named by a store, a study or a recipe, unless the name is allowed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.helpers.cli import CliRunner, Result
from tests.helpers.sampling import chunk, rotating
from tests.helpers.strangers import MODULE, PLACES, run_allowed, stored, trial

from graphtrial.cli.main import app
from graphtrial.core.files import cache_home
from graphtrial.core.hardware.speed import write_factor
from graphtrial.execution import make_executor
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials import Store, TrialSpec

QUICK = "seeds = 1\nsplits = 1\nrules = { stopping.max_epochs = 1 }\n"
STUDIES = {
    "model": 'dataset = "csl"\n' + QUICK + '[[models]]\nname = "marked:Net"\nwidth = 8\n',
    "kernel": 'dataset = "csl"\nprotocol = "tudataset/kernel-svm"\nseeds = 1\nsplits = 1\n'
    '[[models]]\nname = "marked:Kernel"\n',
    "encoding": 'dataset = "csl"\n' + QUICK + '[[models]]\nname = "gcn"\nwidth = 8\nencoding = "marked:Positions"\n',
    "dataset": 'dataset = "marked:Data"\n' + QUICK + '[[models]]\nname = "gcn"\nwidth = 8\n',
    "also": 'dataset = "csl"\nalso = ["marked:Data"]\n' + QUICK + '[[models]]\nname = "gcn"\nwidth = 8\n',
    "protocol": 'dataset = "csl"\nprotocol = "marked:protocol"\n' + QUICK + '[[models]]\nname = "gcn"\nwidth = 8\n',
    "row's protocol": 'dataset = "csl"\n'
    + QUICK
    + '[[models]]\nname = "gcn"\nwidth = 8\nprotocol = "marked:protocol"\n',
}
FROM_STORE = [
    *(
        ["status"],
        ["status", "--json"],
        ["show", "ID"],
        ["show", "ID", "--json"],
        ["watch", "--once"],
        ["watch", "--json"],
    ),
    *(["report", "--out", "OUT/site"], ["report", "--json"], ["report", "--markdown"], ["reproduce", "ID"]),
    *(["reproduce", "ID", "--workers", "0"], ["compare", "gcn", "mlp"], ["ranks"], ["export", "csl"], ["doctor"]),
    *(["wikics", "mapper", "csl", "--out", "OUT/m.png", "--trial", "ID"], ["store", "ship", "OUT/shipped.sqlite"]),
    *(["list", "studies", "--only", "demo"], ["study", "demo", "--dry-run"], ["doctor", "--study", "demo"]),
]
FROM_STUDY = [
    *(["study", "FILE"], ["study", "FILE", "--workers", "0"], ["study", "FILE", "--dry-run"], ["validate", "FILE"]),
    *(["study", "FILE", "--dry-run", "--json"], ["study", "FILE", "--dry-run", "--estimate"]),
    *(["study", "FILE", "--edition", "as-published", "--dry-run"], ["doctor", "--study", "FILE"]),
]
OTHERS = [
    *(["list", kind] for kind in ("datasets", "models", "encodings", "kernels", "protocols", "tasks", "metrics")),
    *(
        ["run", "stranger", "gcn"],
        ["kernel", "stranger", "wl"],
        ["params", "stranger", "gcn"],
        ["tune", "stranger", "gcn", "--budget", "1trials"],
        ["data", "info", "stranger"],
    ),
    *(
        ["data", "prepare", "stranger"],
        ["data", "plot", "stranger"],
        ["data", "check", "stranger"],
        ["data", "delete", "stranger"],
    ),
]
APART = {"data export", "data import", "wikics build", "wikics stage", "wikics generate", "store merge"}
"""Commands that read untrusted data without names of code; tested with their readers."""


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that appears as soon as the module `marked` is imported, in any process."""
    folder, library = tmp_path / "mark", tmp_path / "library"
    library.mkdir()
    (library / "marked.py").write_text(MODULE.format(mark=str(folder)))
    monkeypatch.syspath_prepend(str(library))
    monkeypatch.setenv("PYTHONPATH", str(library), prepend=":")
    monkeypatch.chdir(tmp_path)
    yield folder
    sys.modules.pop("marked", None)


@pytest.fixture
def plain() -> TrialSpec:
    row = ModelEntry("gcn", {"width": 8, "layers": 1})
    return Study("s", "csl", (row,), seeds=1, splits=1, rules={"stopping.max_epochs": 1}).trials()[0]


def call(words: list[str], **names: Any) -> Result:
    for name, value in names.items():
        words = [word.replace(name, str(value)) for word in words]
    result = CliRunner().invoke(app, words)
    assert result.exception is None or isinstance(result.exception, SystemExit), f"{words}: {result.exception!r}"
    return result


@pytest.mark.parametrize("honest", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_no_command_imports_code_named_by_a_store(
    place: str, honest: bool, plain: TrialSpec, mark: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    spec, path = trial(place, plain, tmp_path, honest=honest), tmp_path / "theirs.sqlite"
    stored(spec, path)
    (tmp_path / "out").mkdir()
    again = [words for words in FROM_STORE if words[0] == "reproduce"]
    others = [words for words in FROM_STORE if words[0] != "reproduce"]
    for words in again if honest else [*again, *chunk(others, list(PLACES).index(place), 2, request)]:
        printed = call([*words, "--store", str(path)], ID=spec.id[:8], OUT=tmp_path / "out")
        assert not mark.exists(), words
        if words[0] == "reproduce" and place != "protocol":  # the rules of a trial are written out in it
            assert printed.exit_code == 2, printed.output
            word = f"marked:{PLACES[place]}"
            assert printed.stderr.endswith(f"add --allow {word} (in Python: graphtrial.allow('{word}'))\n")
            assert printed.stderr.count("\n") == 1
    call(["store", "merge", str(path), "--store", str(tmp_path / "ours.sqlite")])
    assert not mark.exists()
    assert "marked" not in sys.modules


@pytest.fixture
def calibrated() -> Iterator[None]:
    """The speed of this machine is known, which `--estimate` would measure for ten seconds."""
    write_factor(1.0)
    yield
    (cache_home() / "calibration.json").unlink()


@pytest.mark.usefixtures("calibrated")
@pytest.mark.parametrize("place", STUDIES)
def test_no_command_imports_code_named_by_a_study(place: str, mark: Path, tmp_path: Path) -> None:
    file = tmp_path / "theirs.toml"
    file.write_text(f'title = "a study"\n{STUDIES[place]}')
    for words in FROM_STUDY:
        printed = call(words, FILE=file)
        assert not mark.exists(), words
        if words[0] == "study" and place not in ("also", "encoding"):  # ignored: an encoding has no colon
            assert printed.exit_code == 2, printed.output
            assert "If you trust it add --allow marked:" in printed.stderr
            assert printed.stderr.count("\n") == 1
    assert "marked" not in sys.modules


@pytest.mark.parametrize("words", OTHERS, ids=" ".join)
def test_no_command_imports_code_named_by_a_recipe(words: list[str], mark: Path, own_home: Path) -> None:
    recipe = {"name": "stranger", "kind": "jsonl", "title": "t", "task": "marked:Asked", "protocol": "marked:protocol"}
    (own_home / "own").mkdir(parents=True)
    (own_home / "own" / "stranger.json").write_text(json.dumps({**recipe, "files": [], "split": {}, "format": 1}))
    call(words)
    assert not mark.exists()
    assert "marked" not in sys.modules


def test_every_command_is_covered() -> None:
    def names(command: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
        if not hasattr(command, "commands"):
            yield " ".join(path)
        for name, inner in getattr(command, "commands", {}).items():
            yield from names(inner, (*path, name))

    tried = [" ".join(words) for words in (*FROM_STORE, *FROM_STUDY, *OTHERS)]
    registered = set(names(typer.main.get_command(app)))
    missed = {name for name in registered if not any(f"{words} ".startswith(f"{name} ") for words in tried)}
    assert {name for name in missed if not name.startswith("data generate")} == APART


def test_every_command_with_plugin_option_has_allow_option() -> None:
    def options(command: Any) -> Iterator[set[str]]:
        for inner in getattr(command, "commands", {}).values():
            yield from options(inner)
        yield {option for parameter in command.params for option in parameter.opts}

    actual = [names for names in options(typer.main.get_command(app)) if {"--plugin", "--allow"} & names]
    assert len(actual) >= 12
    assert all({"--plugin", "--allow"} <= names for names in actual)


@pytest.mark.parametrize(("place", "workers"), rotating([place for place in PLACES if place != "protocol"], [1, 0]))
def test_allowed_code_is_reproduced(place: str, workers: int, plain: TrialSpec, mark: Path, tmp_path: Path) -> None:
    spec, path = trial(place, plain, tmp_path, honest=True), tmp_path / "theirs.sqlite"
    stored(spec, path)
    words = ["reproduce", spec.id, "--store", str(path), "--workers", str(workers), "--json"]
    printed = call([*words, "--allow", f"marked:{PLACES[place]}"])
    assert printed.exit_code == 1, printed.output  # the stored scores were invented
    (one,) = json.loads(printed.stdout)
    assert one["verdict"] == "differs", printed.output
    assert "test" in one["after"]
    assert mark.exists()


@pytest.mark.parametrize(
    ("place", "workers"), rotating([place for place in STUDIES if place not in ("also", "encoding")], ["1", "0"])
)
def test_allowed_code_runs_in_a_study(place: str, workers: str, mark: Path, tmp_path: Path) -> None:
    file = tmp_path / "theirs.toml"
    file.write_text(f'title = "a study"\n{STUDIES[place]}')
    name = f"marked:{PLACES['protocol' if 'protocol' in place else place]}"
    printed = call(
        ["study", str(file), "--workers", workers, "--allow", name, "--store", str(tmp_path / "s.sqlite"), "--json"]
    )
    assert printed.exit_code == 0, printed.output
    assert json.loads(printed.stdout)["statuses"] == {"done": 1}
    assert mark.exists()


def test_workers_import_allowed_code_only(plain: TrialSpec, mark: Path, tmp_path: Path) -> None:
    spec, store = trial("model", plain, tmp_path, honest=True), Store(tmp_path / "s.sqlite")
    run_allowed(spec, store, make_executor("processes:1"), mark)


def test_doctor_lists_code_named_by_a_store(plain: TrialSpec, mark: Path, tmp_path: Path) -> None:
    path = tmp_path / "theirs.sqlite"
    stored(trial("model", plain, tmp_path, honest=False), path)
    findings = json.loads(call(["doctor", "--store", str(path), "--json"]).stdout)["findings"]
    (code,) = [finding for finding in findings if finding["check"] == "code"]
    assert code["result"] == "1 names of code outside graphtrial: marked:Net"
    assert not mark.exists()
