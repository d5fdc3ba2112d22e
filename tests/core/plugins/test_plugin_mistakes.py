"""Faulty plug-ins: one-line errors for anything they raise, register, replace or exit."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.own_layer import LAYER, call, leaving, write
from tests.helpers.sampling import rotating

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.plugins import loader as plugins
from graphtrial.core.plugins.loader import load_plugin
from graphtrial.execution import make_executor, run_trials
from graphtrial.nn import MODELS
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials import Store


@pytest.fixture(autouse=True)
def _no_plugin_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)  # where commands without --store have theirs
    yield
    for plugin in list(plugins._loaded.values()):
        plugins.unload_plugin(plugin)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot read the plug-in"),
        ("def broken(:\n", "plug-in mine.py, line 1: invalid syntax"),
        ("x = 1\n", "plug-in mine.py: it registers nothing: decorate a class"),
        ("import nowhere_to_be_found\n", "plug-in mine.py, line 1: ModuleNotFoundError: No module named"),
        ("\n\nraise ValueError('two\\nlines')\n", "plug-in mine.py, line 3: ValueError: two lines"),
        ("import sys\nsys.exit(3)\n", "plug-in mine.py, line 2: SystemExit: 3"),
        (LAYER.replace('"mine"', '"gcn"'), "two models are called 'gcn'"),
        (LAYER.replace('"mine"', "7"), "line 5: no model can be called 7: a name has up to 100 letters"),
        (LAYER.replace('"mine"', "''"), "no model can be called ''"),
        (LAYER.replace('"mine"', "'x' * 10**7"), "no model can be called 'xxx"),
        (LAYER.replace('"mine"', "'os:system'"), "no model can be called 'os:system'"),
        (LAYER.replace('"mine"', '"mine", title=7'), "the title of model 'mine' must be a short text"),
        (LAYER.replace("gt.Conv", ""), "'mine' is not a valid model but the class Mine: give a class of modules"),
        (LAYER.replace("forward", "backward"), "does not define forward"),
        ("class Mine(BaseException): pass\nraise Mine('so')\n", "plug-in mine.py, line 2: Mine: so"),
        ("raise GeneratorExit\n", "plug-in mine.py, line 1: GeneratorExit"),
        ("class Mute(Exception):\n    def __str__(self): 1 / 0\nraise Mute\n", "plug-in mine.py, line 3: Mute"),
        (LAYER + "import sys\nsys.exit(0)\n", "SystemExit: 0"),
        (LAYER + "import sys\ndel sys.modules[__name__]\n1 / 0\n", "ZeroDivisionError"),
        (
            LAYER + "import sys\nsys.modules['graphtrial.nn'] = None\n",
            "it replaces the module graphtrial.nn in sys.modules",
        ),
        (LAYER + "gt.MODELS.remove('gcn')\n", "it replaces the model 'gcn', which is not its own"),
        ("import graphtrial as gt\ngt.TASKS.add('mine', gt.Task)\n", "'mine' is an abstract task: "),
        (
            "import graphtrial as gt\ngt.DATASETS.add('mine', dict)\n",
            "is not a valid dataset but the class dict: give a subclass",
        ),
        (b"\xff\xfe\x00", "plug-in mine.py"),
    ],
)
@pytest.mark.parametrize("command", [["run", "csl", "mine"], ["list", "models"], ["params", "csl", "mine"]])
def test_plugin_error_is_one_line(text: str | bytes | None, message: str, command: list[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    result = call(*command, "--plugin", file)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.startswith("graphtrial: ")
    assert result.stderr.count("\n") == 1
    assert not plugins._loaded


def test_failed_plugin_registers_nothing(tmp_path: Path) -> None:
    with pytest.raises(GraphTrialError, match="ZeroDivisionError"):
        load_plugin(write(tmp_path, LAYER + "\n1 / 0\n"))
    assert "mine" not in MODELS
    assert not [name for name in sys.modules if name.startswith(plugins.MODULE_PREFIX)]
    load_plugin(write(tmp_path, LAYER))
    assert "mine" in MODELS


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("torch.nn:Linear", "takes no argument `shapes`, and none of PyG's in_channels"),
        ("torch_geometric.nn.models:SchNet", "the forward of SchNet takes z, pos; a batch offers x, edge_index"),
        ("torch_geometric.nn.models:SGFormer", "returns log-probabilities"),
        ("torch_geometric.nn:NNConv", "`nn` of NNConv has no default"),
        ("math:pi", "is not a valid model but a float: give a class"),
        ("torch.nn:Lineer", "Did you mean 'Linear'"),
        ("nowhere.at_all:Net", "cannot import 'nowhere.at_all'"),
    ],
)
def test_attribute_that_is_not_a_model_raises(model: str, message: str) -> None:
    result = call("run", "csl", model)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_file_name_as_module_suggests_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, LAYER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry not in ("", str(tmp_path))])
    assert "use --plugin mine.py" in call("run", "csl", "mine:Mine").stderr


LEAVING = {
    "sys.exit(0)": "SystemExit: 0",
    "sys.exit()": "SystemExit",
    "raise GeneratorExit": "GeneratorExit",
    "raise type('Mine', (BaseException,), {})('so')": "Mine: so",
    "os._exit(0)": "ended with code 0 before the trial had a result",
    "os._exit(3)": "ended with code 3",
}


@pytest.mark.parametrize(
    ("statement", "executor", "building"),
    [  # about the end of this very process nothing can be done
        *rotating([statement for statement in LEAVING if "_exit" not in statement], ["in this process"], [True, False]),
        *rotating(LEAVING, ["processes:1"], [False, True]),
    ],
)
def test_sys_exit_in_a_model_is_a_failed_trial(statement: str, executor: str, building: bool, tmp_path: Path) -> None:
    file, path = write(tmp_path, leaving(statement, building=building)), tmp_path / "s.sqlite"
    where = ["--workers", 0] if executor == "in this process" else ["--executor", executor]
    quick = ["--width", 8, "--max-epochs", 1, "--splits", 1, "--seeds", 1]
    printed = call("run", "csl", "mine", "--plugin", file, *quick, *where, "--store", path)
    assert printed.exit_code == 1, printed.output
    assert "1 of 1 trials failed" in printed.stderr
    assert "Traceback" not in printed.output
    (record,) = Store(path).trials()
    assert record.status == "failed"
    assert LEAVING[statement] in str(record.error)


def test_sys_exit_in_a_task_fails_all_vectorized_trials(tmp_path: Path) -> None:
    text = (
        "import sys\nimport graphtrial as gt\n"
        "from graphtrial.tasks import NodeClassification\n"
        "base = gt.DATASETS.get('wikics-standin-stopping')\n"
        "class Leaving(NodeClassification):\n    name = 'leaving'\n"
        "    def loss(self, predictions, target):\n        sys.exit(0)\n"
        "@gt.DATASETS.register('mine')\n"
        "class Mine(base):\n    'A graph of mine.'\n    name = 'mine'\n    task = Leaving(10)\n"
        "    def task_of(self, graphs):\n        return self.task\n"
    )
    load_plugin(write(tmp_path, text))
    rows = (ModelEntry("mlp-direct", {"width": 6}),)
    trials = Study("t", "mine", rows, "wikics/nodes", seeds=2, splits=1, rules={"stopping.max_epochs": 1}).trials()
    store = Store(tmp_path / "s.sqlite")
    run_trials(trials, store, executor=make_executor("vectorized"))
    records = store.trials()
    assert [record.status for record in records] == ["failed", "failed"]
    assert all("SystemExit: 0" in str(record.error) for record in records)
    assert {record.environment["batched_trials"] for record in records} == {2}


@pytest.mark.parametrize("statement", ["sys.exit(0)", "raise GeneratorExit", "raise ValueError('so')", "1 / 0"])
@pytest.mark.parametrize(
    "words",
    [
        ["params", "csl", "mine", "--width", 8],
        ["run", "csl", "mine", "--budget", "5k"],
        ["validate", "FILE"],
    ],
)
def test_model_error_in_the_main_process_is_one_line(statement: str, words: list[Any], tmp_path: Path) -> None:
    file = write(tmp_path, leaving(statement, building=True))
    printed = call(
        *(file if word == "FILE" else word for word in words), *([] if "FILE" in words else ["--plugin", file])
    )
    assert printed.exit_code == (1 if "FILE" in words else 2), printed.output
    assert "mine.py, line " in printed.output
    assert "Traceback" not in printed.output
    assert "FILE" in words or printed.stderr.count("\n") == 1


def test_rejected_plugin_restores_the_registries(tmp_path: Path) -> None:
    before = {kind: registry.contents() for kind, registry in plugins.registries().items()}
    for more in (
        "gt.MODELS.remove('gcn')",
        "gt.DATASETS.add_resolver(lambda name: None)\n1 / 0",
        "raise GeneratorExit",
    ):
        with pytest.raises(GraphTrialError):
            load_plugin(write(tmp_path, f"{LAYER}\n{more}\n"))
    assert {kind: registry.contents() for kind, registry in plugins.registries().items()} == before


def test_unloading_a_plugin_removes_its_families(tmp_path: Path) -> None:
    text = LAYER.replace('@gt.MODELS.register("mine")\n', "") + (
        "\ngt.MODELS.add_resolver(lambda name: Mine if name.startswith('mine-') else None)\n"
    )
    plugin = load_plugin(write(tmp_path, text))
    (trial,) = Study("s", "csl", (ModelEntry("mine-1", {"width": 8}),), seeds=1, splits=1).trials()
    assert trial.plugins == {"mine.py": plugin.digest}
    plugins.unload_plugin(plugin)
    with pytest.raises(GraphTrialError, match="no model called 'mine-1'"):
        MODELS.get("mine-1")
