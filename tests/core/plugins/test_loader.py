"""Plug-ins: the documented examples exactly as printed, identity, worker processes, and mistakes."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.own_layer import LAYER, call, write

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.plugins import loader as plugins
from graphtrial.core.plugins.loader import load_plugin
from graphtrial.encodings import ENCODINGS
from graphtrial.nn import MODELS, model_settings
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials import Store, run_trial

PAGE = Path(__file__).parents[3] / "docs" / "add-a-model.md"
EXAMPLES = {
    match[1]: match[0]
    for match in re.findall(r"```python\n(\"\"\"(\w+\.py).*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
}
QUICK = ["--max-epochs", "1", "--splits", "1", "--seeds", "1"]


@pytest.fixture(autouse=True)
def _no_plugin_stays() -> Iterator[None]:
    yield
    for plugin in list(plugins._loaded.values()):
        plugins.unload_plugin(plugin)


def study(model: str = "mine", **settings: Any) -> Study:
    return Study(
        "small",
        "csl",
        (ModelEntry(model, {"width": 8, **settings}),),
        seeds=1,
        splits=1,
        rules={"stopping.max_epochs": 1},
    )


@pytest.mark.parametrize(
    ("name", "model", "more"),
    [
        ("my_layer.py", "noisy-mean", ["--set", "noise=0.2"]),
        ("my_model.py", "set-attention", ["--encoding", "laplacian:20"]),
        ("my_gps.py", "my-gps", ["--set", "heads=2", "--set", "layers=2"]),
    ],
)
def test_documented_example_runs_in_a_worker_process(
    name: str, model: str, more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, EXAMPLES[name], name)
    monkeypatch.chdir(tmp_path)
    done = call(*("run", "csl", model, "--plugin", name, "--budget", "10k", *more, *QUICK), *("--workers", 1, "--json"))
    assert done.exit_code == 0, done.output
    row = json.loads(done.stdout)
    assert row["model"] == model
    assert row["statuses"] == {"done": 1}
    assert 8_000 <= row["params"] <= 10_000
    assert row["test"]["mean"] >= 0


def test_documentation_has_three_short_examples() -> None:
    assert sorted(EXAMPLES) == ["my_gps.py", "my_layer.py", "my_model.py"]
    assert all(15 <= len(text.splitlines()) <= 30 for text in EXAMPLES.values())


def test_plugin_is_listed_counted_and_refuses_unknown_settings(tmp_path: Path) -> None:
    file = write(tmp_path, LAYER)
    entries = json.loads(call("list", "models", "--plugin", file, "--json").stdout)
    assert {"name": "mine", "title": "A layer of mine."}.items() <= {e["name"]: e for e in entries}["mine"].items()
    assert "mine" in call("list", "models", "--plugin", file).stdout
    counted = json.loads(call("params", "csl", "mine", "--plugin", file, "--budget", "5k", "--json").stdout)
    assert counted["params"] <= 5_000
    wrong = call("run", "csl", "mine", "--plugin", file, "--set", "facter=2")
    assert wrong.exit_code == 2
    assert "no setting 'facter'. Did you mean 'factor'?" in wrong.stderr


def test_edited_plugin_gives_new_trial_ids(tmp_path: Path) -> None:
    file = write(tmp_path, LAYER)
    first = load_plugin(file)
    assert load_plugin(file) is first
    assert first.things == (("model", "mine"),)
    (before,) = study().trials()
    assert before.plugins == {"mine.py": first.digest}
    file.write_text(LAYER.replace("factor: float = 1.0", "factor: float = 2.0"), encoding="utf-8")
    load_plugin(file)
    assert model_settings("mine")["factor"] == 2.0
    (after,) = study(factor=1.0).trials()
    assert after.model.arguments == {**before.model.arguments, "factor": 1.0}  # which is no default any more
    assert after.id != before.id


def test_unrelated_plugin_does_not_change_trial_ids(tmp_path: Path) -> None:
    (before,) = study("gcn").trials()
    load_plugin(write(tmp_path, LAYER))
    (after,) = study("gcn").trials()
    assert after.id == before.id
    assert after.plugins == {}


def test_missing_or_changed_plugin_is_reported(tmp_path: Path) -> None:
    file = write(tmp_path, LAYER)
    plugin = load_plugin(file)
    (trial,) = study().trials()
    plugins.unload_plugin(plugin)
    assert "mine" not in MODELS
    with pytest.raises(GraphTrialError, match=r"was run with mine\.py .* is not loaded: give it by --plugin"):
        run_trial(trial, tmp_path / "checkpoint")
    file.write_text(LAYER + "\nCHANGED = True\n", encoding="utf-8")
    load_plugin(file)
    with pytest.raises(GraphTrialError, match=r"was run with mine\.py .* has changed since"):
        run_trial(trial, tmp_path / "checkpoint")


def test_editing_a_plugin_does_not_affect_planned_trials(tmp_path: Path) -> None:
    file, store = write(tmp_path, LAYER), Store(tmp_path / "store.sqlite")
    load_plugin(file)
    trials = study().trials()
    file.write_text("this is no longer Python", encoding="utf-8")
    from graphtrial.execution import run_trials

    run_trials(trials, store, workers=1)
    (record,) = store.trials()
    assert (record.status, record.error) == ("done", None)
    assert record.spec.plugins == trials[0].plugins


@pytest.mark.parametrize("attribute", ["Net", "make", "Layer"])
@pytest.mark.parametrize("workers", [0, 1])
def test_module_attributes_run_in_workers(
    attribute: str, workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "from torch import nn\nimport graphtrial as gt\n"
        "class Net(nn.Module):\n"
        "    def __init__(self, shapes, width: int = 8):\n"
        "        super().__init__()\n"
        "        self.encoder = gt.NodeEncoder(shapes, width)\n"
        "        self.head = gt.make_head(shapes, width, 1, readout='sum', layer_heads=False)\n"
        "    def forward(self, graph):\n"
        "        return self.head(graph, [self.encoder(graph)])\n"
        "def make(shapes, width: int):\n    return Net(shapes, width)\n"
    )
    write(tmp_path, text + LAYER.replace('@gt.MODELS.register("mine")', "").replace("Mine", "Layer"), "elsewhere.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "elsewhere", sys)  # so that it is as it was when this test ends
    del sys.modules["elsewhere"]
    store = tmp_path / "store.sqlite"
    result = call(
        *("run", "csl", f"elsewhere:{attribute}", "--width", 8, "--workers", workers, "--store", store, "--json"),
        *QUICK,
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["statuses"] == {"done": 1}
    (record,) = Store(store).trials()
    assert list(record.spec.plugins) == ["elsewhere"]


def test_edited_encoding_has_its_own_cache_entry(tmp_path: Path, own_home: Path) -> None:
    from tests.helpers.samples import graph_set, random_graphs

    from graphtrial.encodings import encode

    text = (
        "import numpy as np\nimport graphtrial as gt\n"
        "@gt.ENCODINGS.register('same')\n"
        "class Same(gt.Encoding):\n"
        "    'The same number everywhere.'\n"
        "    name = 'same'\n"
        "    def __init__(self, k: int = 2):\n        self.width = k\n"
        "    def compute(self, graphs):\n        return np.full((graphs.num_nodes, self.width), 1, np.float32)\n"
    )
    graphs = graph_set(random_graphs(3, seed=0))
    for number in (1, 2):
        load_plugin(write(tmp_path, text.replace("), 1, np", f"), {number}, np")))
        values = encode(graphs, ENCODINGS.get("same")(), "encoding").column("encoding").values
        assert (values == number).all()


def test_kernel_of_a_plugin_is_identified_by_file_hash(tmp_path: Path) -> None:
    text = (
        "from graphtrial.kernels import KERNELS\n"
        "from graphtrial.kernels.wl import WeisfeilerLehman\n"
        "@KERNELS.register('my-wl')\n"
        "class Mine(WeisfeilerLehman):\n"
        "    'The usual refinement under a name of mine.'\n"
    )
    file, store = write(tmp_path, text), tmp_path / "store.sqlite"
    words = ["kernel", "csl", "my-wl", "--plugin", file, "--repetitions", 1, "--folds", 1, "--workers", 1]
    result = call(*words, "--store", store, "--json")
    assert result.exit_code == 0, result.output
    (record,) = Store(store).trials()
    assert record.status == "done"
    assert list(record.spec.plugins) == ["mine.py"]
