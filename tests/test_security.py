"""The threat model of docs/security.md, tested by the attacks themselves."""

from __future__ import annotations

import ast
import json
import os
import pickle
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import Component
from graphtrial.studies import ModelEntry, Study
from graphtrial.training.checkpoint import Checkpoint
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.trials import Store, TrialSpec
from graphtrial.trials.environment import environment

SOURCE = Path(__file__).parents[1] / "src" / "graphtrial"
MODULES = sorted(SOURCE.rglob("*.py"))
FORBIDDEN = {
    "pickle.load",
    "pickle.loads",
    "pickle.Unpickler",
    "marshal.loads",
    "shelve.open",
    "yaml.load",
    "os.system",
}
FORBIDDEN |= {"dill.load", "dill.loads", "joblib.load", "cloudpickle.load", "cloudpickle.loads", "pandas.read_pickle"}
NASTY = "<img src=x onerror=alert(1)>\"'&[/red]|$x_1^2${\\input{x}}%n`; DROP TABLE trials; --"


def calls(module: Path) -> list[tuple[ast.Call, str]]:
    """Return every call in a module with the dotted name of what is called."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    return [(node, ast.unparse(node.func)) for node in ast.walk(tree) if isinstance(node, ast.Call)]


def test_package_has_no_pickle_or_eval() -> None:
    assert [reason for module in MODULES for reason in _unsafe_calls(module)] == []


def _unsafe_calls(module: Path) -> Iterator[str]:
    for call, name in calls(module):
        keywords = {word.arg: ast.unparse(word.value) for word in call.keywords}
        unsafe = (
            name in FORBIDDEN,
            name in ("eval", "exec", "compile", "__import__"),
            keywords.get("allow_pickle", "False") != "False",
            keywords.get("shell", "False") != "False",
            name == "torch.load" and keywords.get("weights_only") != "True",
            name.rpartition(".")[2] in ("extractall", "extract"),
        )
        if any(unsafe):
            yield f"{module.relative_to(SOURCE)}, line {call.lineno}: {ast.unparse(call)}"


class Bomb:
    """Runs a command when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.trace),)


@pytest.mark.parametrize("kind", ["pyg", "jsonl", "parquet", "csv", "graphml", "gml", "node-link", "edgelist", "tu"])
def test_pickle_in_place_of_any_file_is_not_executed(kind: str, tmp_path: Path) -> None:
    from graphtrial.datasets.custom.importers import read

    path, trace = tmp_path / {"tu": "x.zip", "csv": "edges.csv"}.get(kind, "x"), tmp_path / "trace"
    path.write_bytes(pickle.dumps(Bomb(trace)))
    options = {"target": "y"} if kind in ("graphml", "gml", "node-link") else {}
    with pytest.raises(GraphTrialError):
        read(kind, [path, path] if kind == "edgelist" else [path], options)
    assert not trace.exists()


def test_pickle_in_place_of_a_state_or_a_column_is_not_executed(tmp_path: Path) -> None:
    import numpy as np

    from graphtrial.graphs import Column, GraphSet

    trace = tmp_path / "trace"
    state = Checkpoint(tmp_path / "checkpoint.safetensors")
    state.path.write_bytes(pickle.dumps(Bomb(trace)))
    assert state.load() is None
    columns = {"x": Column(np.zeros(2, np.int64), "node", types=1)}
    GraphSet.build([2], [0], np.zeros((2, 0), np.int64), columns).save(tmp_path / "set")
    for file in (tmp_path / "set").glob("*.npy"):
        array = np.empty(1, object)
        array[0] = Bomb(trace)
        np.save(file, array, allow_pickle=True)
    with pytest.raises(GraphTrialError):
        GraphSet.open(tmp_path / "set")
    assert not trace.exists()


def test_names_in_a_store_are_never_imported(tmp_path: Path, study_spec: TrialSpec) -> None:
    trace = tmp_path / "trace"
    (tmp_path / "evil_module.py").write_text(f"import os\nos.mkdir({str(trace)!r})\nthing = 1\n")
    store = Store(tmp_path / "s.sqlite")
    store.start(study_spec, "accuracy", True, {})
    with sqlite3.connect(store.path) as connection:
        connection.execute(
            "UPDATE trials SET spec = replace(spec, '\"gcn\"', '\"evil_module:thing\"'), model = 'evil_module:thing'"
        )
    connection.close()
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        for words in (["status"], ["report", "--out", str(tmp_path / "site")], ["show", study_spec.id[:6]], ["doctor"]):
            CliRunner().invoke(app, [*words, "--store", str(store.path)])
    finally:
        os.chdir(before)
    assert not trace.exists()


@pytest.fixture
def study_spec() -> TrialSpec:
    return Study(
        "s", "csl", (ModelEntry("gcn", {"width": 8, "layers": 2}),), seeds=1, splits=1, rules={"stopping.max_epochs": 1}
    ).trials()[0]


@pytest.fixture
def nasty_store(tmp_path: Path, study_spec: TrialSpec) -> Store:
    """A store with a finished trial of a model whose name is an attack; no registry takes such a name."""
    spec = replace(study_spec, model=Component(NASTY, study_spec.settings))
    store = Store(tmp_path / "results" / "s.sqlite")
    store.start(spec, "accuracy", True, environment())
    epoch = Epoch(1, 1e-3, 1.0, 1.0, 1.0, 1.0)
    store.add_epochs(spec.id, [epoch])
    store.finish(spec.id, Outcome("done", 1, [epoch], {"train": 1.0, "val": 1.0, "test": 1.0}))
    return store


def test_names_are_escaped_in_every_output(nasty_store: Store, tmp_path: Path) -> None:
    path, folder = str(nasty_store.path), tmp_path / "site"
    (record,) = nasty_store.trials()
    assert record.spec.model.name == NASTY
    for words in (
        ["status"],
        ["show", record.id],
        ["report", "--out", str(folder)],
        ["doctor"],
    ):
        result = CliRunner().invoke(app, [*words, "--store", path])
        assert result.exit_code == 0, f"{words}: {result.output} {result.exception!r}"
    pages = [file for file in folder.rglob("*") if file.suffix in (".html", ".md", ".svg", ".js", ".json")]
    assert any(file.suffix == ".html" for file in pages)
    for file in pages:
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".json":
            json.loads(text)
        else:
            assert "<img src=x" not in text, file.name
    result = CliRunner().invoke(app, ["report", "--store", path, "--json"])
    assert json.loads(result.stdout)[0]["model"] == NASTY


def test_names_are_sql_parameters(store_path: Path, study_spec: TrialSpec) -> None:
    store = Store(store_path)
    store.start(study_spec, NASTY, True, {"cpu": NASTY})
    store.add_epochs(study_spec.id, [Epoch(1, 1e-3, 1.0, 1.0, 1.0, 1.0)])
    store.mark(study_spec.id, "failed", NASTY)
    with pytest.raises(GraphTrialError, match="no trial begins with"):
        store.find("' OR '1'='1")
    with pytest.raises(GraphTrialError, match="no trial begins with"):
        store.find("%")
    assert store.trials(["x'; DROP TABLE trials; --"]) == []
    store.finish(study_spec.id, Outcome("done", 1, [], {"test": 1.0}, details={"note": NASTY}))
    (record,) = store.trials()
    assert (record.metric, record.environment["cpu"], record.details["note"]) == (NASTY, NASTY, NASTY)


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    return tmp_path / "s.sqlite"


def test_shared_results_contain_no_user_folder_or_variable(nasty_store: Store, tmp_path: Path) -> None:
    with sqlite3.connect(nasty_store.path) as connection:
        text = json.dumps(
            [list(row) for table in ("trials", "epochs") for row in connection.execute(f"SELECT * FROM {table}")]
        )
    connection.close()
    for secret in (str(Path.home()), str(tmp_path), os.environ.get("USER") or str(Path.home())):
        assert secret not in text


def test_files_are_written_atomically() -> None:
    """Every write in the package is to a temporary name that is renamed, to a stream of its own, or to the system."""
    actual = []
    for module in MODULES:
        if module.name == "files.py":
            continue
        tree = ast.parse(module.read_text(encoding="utf-8"))
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            text = ast.unparse(function)
            safe = "atomic_" in text or "temporary" in text or "_renewed" in text
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and not safe and _writes(node) and not _is_system(node):
                    actual.append(f"{module.relative_to(SOURCE)}:{node.lineno} {ast.unparse(node)[:60]}")
    assert [line for line in actual if not line.startswith(ALLOWED)] == []


ALLOWED = (
    "io/archive.py:",
    "datasets/custom/recipe.py:",
    "wikipedia/",
    "io/download.py:",
    "report/",
    "execution/remote_store.py:",
)
"""Places that write below a temporary folder which another function renames."""


def _is_system(node: ast.Call) -> bool:
    return any(place in ast.unparse(node) for place in ("/proc/", "os.devnull"))


def _writes(node: ast.Call) -> bool:
    name = ast.unparse(node.func)
    if name.endswith((".write_text", ".write_bytes")):
        return True
    if name == "open" or name.endswith(".open"):
        modes = [a.value for a in [*node.args, *(k.value for k in node.keywords)] if isinstance(a, ast.Constant)]
        return any(isinstance(mode, str) and mode in ("w", "wb", "a", "ab", "x", "xb", "w+", "r+b") for mode in modes)
    return False
