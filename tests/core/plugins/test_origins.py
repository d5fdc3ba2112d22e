"""Origins: every user file that defines a component is part of its identity, in any folder."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.plugins import loader as plugins
from graphtrial.core.plugins.loader import load_plugin
from graphtrial.core.plugins.origins import origin_digests
from graphtrial.datasets import DATASETS
from graphtrial.encodings import ENCODINGS
from graphtrial.kernels import KERNELS
from graphtrial.metrics import METRICS
from graphtrial.nn import MODELS
from graphtrial.studies import ModelEntry, Study
from graphtrial.tasks import TASKS
from graphtrial.trials import TrialSpec
from graphtrial.trials.trial import run_trial

LAYER = """
import graphtrial as gt
from torch import nn
@gt.MODELS.register("{name}")
class Mine(gt.Conv):
    def __init__(self, width: int):
        super().__init__()
        self.linear = nn.Linear(width, width)
    def forward(self, graph, x, e):
        return {factor} * self.linear(x), e
"""
ENCODING = """
import numpy as np
import graphtrial as gt
@gt.ENCODINGS.register("same")
class Same(gt.Encoding):
    name = "same"
    def __init__(self, k: int = 2):
        self.width = k
    def compute(self, graphs):
        return np.full((graphs.num_nodes, self.width), {factor}, np.float32)
"""
DATASET = """
from graphtrial.datasets.csl import CSL
import graphtrial as gt
@gt.DATASETS.register("my-csl")
class Mine(CSL):
    "CSL under a name of mine."
    name = "my-csl"
    protocol = "bgnn-v5/csl"
    {more}
"""


@pytest.fixture(autouse=True)
def _nothing_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    modules = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield
    for plugin in list(plugins._loaded.values()):
        plugins.unload_plugin(plugin)
    for name in set(sys.modules) - modules:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
            del sys.modules[name]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def trial(**row: Any) -> TrialSpec:
    given = {"model": "mine", "settings": {"width": 8}, **row}
    return Study("s", "csl", (ModelEntry(**given),), seeds=1, splits=1, rules={"stopping.max_epochs": 1}).trials()[0]


@pytest.mark.parametrize("registry", [MODELS, ENCODINGS, DATASETS, METRICS, TASKS, KERNELS], ids=lambda r: r.kind)
def test_built_in_components_have_no_origin(registry: Any) -> None:
    ours = [name for name in registry if registry.get(name).__module__.startswith("graphtrial.")]  # not of other tests
    assert ours
    assert {name: actual for name in ours if (actual := origin_digests(registry.get(name)))} == {}


def test_plugins_with_equal_file_names_are_distinguished(tmp_path: Path) -> None:
    model, encoding = LAYER.format(name="mine", factor=1), ENCODING.format(factor=1)
    actual = []
    for folder, order in (("a", (0, 1)), ("b", (1, 0))):
        files = [
            write(tmp_path / folder / "one" / "mine.py", model),
            write(tmp_path / folder / "two" / "mine.py", encoding),
        ]
        loaded = [load_plugin(files[number]) for number in order]
        actual.append(trial(encodings=("same:2",)))
        for plugin in loaded:
            plugins.unload_plugin(plugin)
    first, second = digest(files[0]), digest(files[1])
    assert actual[0].plugins == {f"mine.py~{first[:12]}": first, f"mine.py~{second[:12]}": second}
    assert actual[0].id == actual[1].id
    files = [files[0], write(files[1], ENCODING.format(factor=2))]
    for file in files:
        load_plugin(file)
    edited = trial(encodings=("same:2",))
    assert edited.id != actual[0].id
    assert len(plugins.user_code(edited.plugins).sources) == 2


def test_combined_encoding_has_the_origins_of_its_parts(tmp_path: Path) -> None:
    file = write(tmp_path / "mine.py", ENCODING.format(factor=1))
    row: dict[str, Any] = {"model": "gcn", "encodings": ("rwse:2+same:3",)}
    load_plugin(file)
    spec = trial(**row)
    assert spec.plugins == {"mine.py": digest(file)}
    assert spec.names == ("csl", "gcn", "random-walk", "same")
    load_plugin(write(file, ENCODING.format(factor=2)))
    assert trial(**row).id != spec.id
    with pytest.raises(GraphTrialError, match=r"was run with mine\.py .* has changed since"):
        run_trial(spec, tmp_path / "checkpoint")
    for plugin in list(plugins._loaded.values()):
        plugins.unload_plugin(plugin)
    with pytest.raises(GraphTrialError, match="no encoding called 'same'"):
        trial(**row)


def test_encoding_name_with_plus_sign_raises(tmp_path: Path) -> None:
    text = ENCODING.format(factor=1).replace('"same"', '"same+other"')
    with pytest.raises(GraphTrialError, match=r"without \+ in its name"):
        load_plugin(write(tmp_path / "mine.py", text))


def test_plugin_identity_does_not_depend_on_its_folder(tmp_path: Path) -> None:
    text = LAYER.format(name="mine", factor=1)
    first = load_plugin(write(tmp_path / "a" / "mine.py", text))
    assert load_plugin(write(tmp_path / "b" / "mine.py", text)) is first
    assert trial().plugins == {"mine.py": first.digest}


def test_imported_modules_are_part_of_the_plugin_identity(tmp_path: Path) -> None:
    shared = write(tmp_path / "factors.py", "from deeper import FACTOR\n")
    deeper = write(tmp_path / "deeper.py", "import json, torch\nFACTOR = 1\n")
    later = write(tmp_path / "later.py", "never = 'imported'\n")
    text = "from factors import FACTOR\ndef lazy():\n    import later\n" + LAYER.format(name="mine", factor="FACTOR")
    plugin = load_plugin(write(tmp_path / "mine.py", text))
    assert "later" not in sys.modules
    expected = {"deeper": digest(deeper), "factors": digest(shared), "later": digest(later), "mine.py": plugin.digest}
    assert trial().plugins == expected


PACKAGE = {
    "pack/__init__.py": "from pack.net import Net as Other\n",
    "pack/base.py": "from torch import nn\nclass Base(nn.Module):\n    pass\n",
    "pack/net.py": (
        "import functools\nfrom .base import Base\nfrom . import extra\n"
        "class Net(Base):\n    def __init__(self, shapes, width: int = 8):\n        super().__init__()\n"
        "def decorate(f):\n    return lambda *args, **names: f(*args, **names)\n"
        "@functools.cache\ndef cached(shapes):\n    return Net(shapes)\n"
        "def make(shapes, width: int = 8):\n    return Net(shapes, width)\n"
        "wrapped = decorate(make)\npartial = functools.partial(make, width=3)\n"
    ),
    "pack/extra.py": "VALUE = 1\n",
    "elsewhere.py": "from torch import nn\nclass Alone(nn.Module):\n    pass\n",
}


@pytest.mark.parametrize("attribute", ["Net", "make", "wrapped", "partial", "cached"])
def test_class_of_a_package_has_all_defining_files(attribute: str, tmp_path: Path) -> None:
    for name, text in PACKAGE.items():
        write(tmp_path / name, text)
    actual = origin_digests(getattr(importlib.import_module("pack.net"), attribute))
    assert list(actual) == ["pack", "pack.base", "pack.extra", "pack.net"]
    assert actual["pack.base"] == digest(tmp_path / "pack/base.py")


def test_reexported_class_has_the_files_of_its_definition(tmp_path: Path) -> None:
    for name, text in PACKAGE.items():
        write(tmp_path / name, text)
    assert origin_digests(importlib.import_module("pack").Other) == origin_digests(
        importlib.import_module("pack.net").Net
    )
    assert list(origin_digests(importlib.import_module("elsewhere").Alone)) == ["elsewhere"]


def test_class_of_an_installed_package_has_its_own_files() -> None:
    from torch_geometric.nn import GCN

    actual = list(origin_digests(GCN))
    assert "torch_geometric.nn.models.basic_gnn" in actual
    assert all(name.startswith("torch_geometric") for name in actual)


def test_loaded_class_keeps_the_hash_of_its_loaded_source(tmp_path: Path) -> None:
    file = write(tmp_path / "net.py", "class Net:\n    pass\n")
    module = importlib.import_module("net")
    before = origin_digests(module.Net)
    write(file, "class Net:\n    changed = True\n")
    assert origin_digests(module.Net) == before
    assert origin_digests(importlib.reload(module).Net) == {"net": digest(file)} != before


def test_task_is_part_of_the_dataset_origin(tmp_path: Path) -> None:
    task = write(
        tmp_path / "tasks" / "task.py",
        """
from graphtrial.tasks import GraphClassification
import graphtrial as gt
@gt.TASKS.register("my-task")
class Mine(GraphClassification):
    name = "my-task"
""",
    )
    uses = "def task_of(self, graphs):\n        return gt.TASKS.get('my-task')(10)"
    load_plugin(task)
    load_plugin(write(tmp_path / "data" / "mine.py", DATASET.format(more=uses)))
    (built,) = Study("s", "my-csl", (ModelEntry("gcn", {"width": 8}),), seeds=1, splits=1).trials()
    assert list(built.plugins) == ["mine.py", "task.py"]
    assert len(plugins.user_code(built.plugins).sources) == 2


def test_metric_is_part_of_the_dataset_origin(tmp_path: Path) -> None:
    metric = write(
        tmp_path / "metrics" / "metric.py",
        """
from graphtrial.metrics.classes import Accuracy
import graphtrial as gt
@gt.METRICS.register("my-metric")
class Mine(Accuracy):
    name = "my-metric"
    title = "my accuracy"
""",
    )
    uses = "def task_of(self, graphs):\n        return gt.TASKS.get('graph-classification')(10, metric='my-metric')"
    load_plugin(metric)
    load_plugin(write(tmp_path / "data" / "mine.py", DATASET.format(more=uses)))
    (trial,) = Study("s", "my-csl", (ModelEntry("gcn", {"width": 8}),), seeds=1, splits=1).trials()
    assert list(trial.plugins) == ["metric.py", "mine.py"]


def test_edited_dataset_is_prepared_again(tmp_path: Path, own_home: Path) -> None:
    from graphtrial.datasets import load

    first = load_plugin(write(tmp_path / "mine.py", DATASET.format(more="")))
    assert len(load("my-csl").splits) == 5
    fewer = "def split(self, graphs, source, raw):\n        return list(super().split(graphs, source, raw))[:2]"
    assert load_plugin(write(tmp_path / "mine.py", DATASET.format(more=fewer))).digest != first.digest
    assert len(load("my-csl").splits) == 2


def test_model_of_a_script_has_the_same_identity_in_workers(tmp_path: Path) -> None:
    script = write(
        tmp_path / "script.py",
        LAYER.format(name="mine", factor=1)
        + "\nif __name__ == '__main__':\n"
        + "    row = gt.run('csl', 'mine', settings={'width': 8}, seeds=1, splits=1,\n"
        + "                 rules={'stopping.max_epochs': 1}, workers=1, store='s.sqlite')\n"
        + "    print(row.statuses, list(row.first.spec.plugins))\n",
    )
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "{'done': 1} ['__main__']" in done.stdout, done.stdout + done.stderr


def test_registered_name_must_equal_dataset_name(tmp_path: Path) -> None:
    from graphtrial.datasets import load

    load_plugin(write(tmp_path / "mine.py", DATASET.format(more="").replace('name = "my-csl"', 'name = "another"')))
    with pytest.raises(GraphTrialError, match="dataset 'my-csl' has `name = 'another'`, which is not registered"):
        load("my-csl")
