"""Trusted names (command line, Python arguments) and untrusted ones (files, entry points)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner
from tests.helpers.strangers import MODULE

import graphtrial as gt
from graphtrial.cli.main import app
from graphtrial.core.plugins.permissions import NotAllowedError, allowed
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials import Store

QUICK = ["--width", "8", "--max-epochs", "1", "--splits", "1", "--seeds", "1"]


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on Python's path with the module `marked`."""
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "marked.py").write_text(MODULE.format(mark=str(tmp_path / "mark")))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(tmp_path)
    yield folder
    sys.modules.pop("marked", None)  # another test has another module of that name


def test_names_passed_in_python_are_trusted(library: Path) -> None:
    assert gt.load("marked:Data").name == "marked:Data"
    assert gt.info("marked:Data")["graphs"] == gt.prepare("marked:Data").provenance["statistics"][0]["ours"] == 150
    assert type(gt.build("marked:Net", "csl", width=8)).__name__ == "Net"
    quick = {"seeds": 1, "splits": 1, "rules": {"stopping.max_epochs": 1}, "store": library / "s.sqlite"}
    assert gt.run("csl", "gcn", settings={"width": 8}, protocol="marked:protocol", **quick).scores("test")  # type: ignore[arg-type]
    assert allowed() == ("csl", "gcn", "marked:Data", "marked:Net", "marked:protocol", "none")


def test_study_object_needs_allowed_names(library: Path) -> None:
    rows = (ModelEntry("marked:Net", {"width": 8}),)
    study = Study("s", "csl", rows, seeds=1, splits=1, rules={"stopping.max_epochs": 1})
    with pytest.raises(NotAllowedError, match=r"graphtrial\.allow\('marked:Net'\)"):
        gt.run_study(study, store=library / "s.sqlite")
    assert "marked" not in sys.modules
    gt.allow("marked:Net")
    (row,) = gt.run_study(study, store=library / "s.sqlite")
    assert row.name == "marked:Net"


@pytest.mark.parametrize("words", [["data", "info", "marked:Data"], ["params", "csl", "marked:Net", "--width", "8"]])
def test_names_on_the_command_line_are_trusted(words: list[str], library: Path) -> None:
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("name", ["x y", "os:", ":system", "os:system;true", "../x", ""])
def test_allow_option_requires_a_valid_name(name: str) -> None:
    result = CliRunner().invoke(app, ["list", "models", "--allow", name])
    assert result.exit_code == 2
    assert "--allow takes package.module:attribute, the name of an entry point" in result.stderr
    assert result.stderr.count("\n") == 1


def test_entry_points_are_listed_without_being_loaded(library: Path, tmp_path: Path) -> None:
    about = library / "strangers-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: strangers\nVersion: 1.0\n")
    points = {"model": "Net", "encoding": "Positions", "dataset": "Data", "kernel": "Kernel", "protocol": "protocol"}
    text = "".join(f"[graphtrial.{kind}s]\nof-{kind} = marked:{attribute}\n" for kind, attribute in points.items())
    (about / "entry_points.txt").write_text(text)
    run = CliRunner()
    for kind, attribute in points.items():
        shown = run.invoke(app, ["list", f"{kind}s"])
        assert shown.exit_code == 0, shown.output
        assert f"not loaded: of-{kind}, marked:{attribute} of an installed package" in shown.stdout
        entries = json.loads(run.invoke(app, ["list", f"{kind}s", "--json"]).stdout)
        assert [entry["withheld"] for entry in entries if entry["name"] == f"of-{kind}"] == [f"marked:{attribute}"]
    for words in (["doctor", "--json"], ["data", "check", "--all", "--no-large", "--json"], ["status"], ["report"]):
        run.invoke(
            app, [*words, *(["--store", str(tmp_path / "none.sqlite")] if words[0] in ("doctor", "status") else [])]
        )
    assert not (tmp_path / "mark").exists()
    file = tmp_path / "s.toml"
    file.write_text(
        'title = "s"\ndataset = "csl"\nseeds = 1\nsplits = 1\nrules = { stopping.max_epochs = 1 }\n'
        '[[models]]\nname = "of-model"\nwidth = 8\n'
    )
    refused = run.invoke(app, ["study", str(file)])
    assert refused.exit_code == 2
    assert "is code of an installed package: 'marked:Net'. If you trust it add --allow of-model" in refused.stderr
    assert not (tmp_path / "mark").exists()
    done = run.invoke(app, ["study", str(file), "--allow", "of-model", "--workers", "1", "--json"])
    assert json.loads(done.stdout)["statuses"] == {"done": 1}, done.output
    listed = json.loads(run.invoke(app, ["list", "models", "--allow", "of-model", "--json"]).stdout)
    assert "withheld" not in next(entry for entry in listed if entry["name"] == "of-model")
    typed = run.invoke(app, ["run", "csl", "of-model", *QUICK, "--workers", "0", "--json"])
    assert json.loads(typed.stdout)["statuses"] == {"done": 1}, typed.output


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 searches the current folder, whatever one does")
@pytest.mark.parametrize(
    "where",
    [
        pytest.param(["--workers", "1"], id="processes"),
        pytest.param(["--executor", "ray"], id="ray", marks=pytest.mark.long),
    ],
)
def test_no_process_imports_modules_from_the_working_directory(where: list[str], tmp_path: Path) -> None:
    if "ray" in where:
        pytest.importorskip("ray")
    for name in ("numpy", "torch", "filelock", "signal", "marked"):
        (tmp_path / f"{name}.py").write_text(f"import os\nos.mkdir({str(tmp_path / f'mark-{name}')!r})\n")
    store = tmp_path / "s.sqlite"
    words = ["-m", "graphtrial", "run", "csl", "gcn", *QUICK, *where, "--store", str(store)]
    source = str(Path(gt.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source}
    done = subprocess.run([sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [record.status for record in Store(store).trials()] == ["done"]
    if "ray" not in where:  # it ends before any executor begins
        refused = [sys.executable, "-m", "graphtrial", "run", "csl", "marked:Net"]
        result = subprocess.run(refused, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert "for a file of your own use --plugin marked.py" in result.stderr
    assert list(tmp_path.glob("mark-*")) == []
