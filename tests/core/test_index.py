"""The generated index: equal to the registries, not used where files have changed, and enough for `graphtrial list`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.listing import KINDS
from graphtrial.cli.main import app
from graphtrial.cli.studies import study_entries
from graphtrial.core import index
from graphtrial.core.hardware.measurements import write_measurement
from graphtrial.core.hardware.speed import write_factor
from graphtrial.core.registry import Registry
from graphtrial.studies import load_study
from graphtrial.studies.estimate import _path as _timing_path
from graphtrial.studies.plan import plan
from tools import index as generator

LISTS = """
import sys
from graphtrial.cli.main import app, _with_one_command
for words in (["--help"], *(["list", kind] for kind in sys.argv[1:])):
    try:
        _with_one_command(words)(words)
    except SystemExit as end:
        assert not end.code, words
heavy = [name for name in ("torch", "numpy", "numba", "scipy", "sklearn") if name in sys.modules]
assert not heavy, heavy
"""


def test_the_index_equals_the_registries_on_any_machine(own_home: Path) -> None:
    (demo,) = study_entries(own_home / "none.sqlite", estimate=False, only=["demo"])
    write_factor(3.0)
    for row in plan(load_study("demo")):
        write_measurement(_timing_path(row), {"epoch_seconds": 1e6, "source": "of a slow machine"})
    assert study_entries(own_home / "none.sqlite", estimate=False, only=["demo"]) != [demo]
    written = json.loads(index.FILE.read_text(encoding="utf-8"))
    for kind, part in generator.build().items():
        assert written[kind] == part, f"{kind} have changed: `python -m tools.index` writes the index anew"


def test_the_index_has_the_module_of_every_built_in() -> None:
    for kind in KINDS[:-1]:
        registry = generator.registry_of(kind)
        assert registry is not None
        part = index.indexed(kind)
        assert part is not None
        names = {entry["name"] for entry in part.entries}
        assert names == set(registry.built_in().things)
        assert set(part.modules) <= names
        assert kind == "protocols" or set(part.modules) == names  # many protocols are declared in loops


def test_help_and_lists_import_nothing_that_computes(own_home: Path, tmp_path: Path) -> None:
    line = [sys.executable, "-c", LISTS, *KINDS]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ["models", "protocols", "studies"])
def test_a_stale_index_lists_the_same(
    kind: str, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["list", kind, "--json", "--store", str(tmp_path / "none.sqlite")]
    quick = CliRunner().invoke(app, words)
    monkeypatch.setattr(index, "stamp", lambda folders: -1)
    assert index.indexed(kind) is None
    assert json.loads(CliRunner().invoke(app, words).stdout) == json.loads(quick.stdout)


def test_a_changed_or_new_file_changes_the_stamp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "PACKAGE", tmp_path)
    (tmp_path / "a").mkdir()
    stamps = [index.stamp(["a"])]
    for name, text in (("x.py", "1"), ("x.py", "2"), ("y.py", "")):
        (tmp_path / "a" / name).write_text(text)
        stamps.append(index.stamp(["a"]))
    assert len(set(stamps)) == 4
    (tmp_path / "a" / "y.pyc").write_text("compiled")
    assert index.stamp(["a"]) == stamps[-1]


def test_one_name_imports_one_module() -> None:
    text = (
        "import sys; from graphtrial.nn import MODELS; MODELS.get('gcn'); "
        "assert 'graphtrial.nn.models.grit' not in sys.modules; assert MODELS.title('gcn') == 'GCN'; "
        "assert 'grit' in MODELS.names() and 'graphtrial.nn.models.grit' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", text], timeout=120, check=True)


def test_modules_are_those_of_the_same_packages() -> None:
    registry: Registry[object] = Registry("schedule", "graphtrial.training.optim.schedules", plural="schedules")
    assert index.module_of("schedules", registry.packages, "cosine") == "graphtrial.training.optim.schedules.cosine"
    assert index.module_of("schedules", ("tests.helpers",), "cosine") is None
    assert index.module_of("schedules", registry.packages, "none") is None
