"""The registry: lazy imports, entry points, plug-ins, errors for unknown names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from graphtrial.core.errors import GraphTrialError, UnknownNameError
from graphtrial.core.plugins.imports import import_attribute
from graphtrial.core.plugins.permissions import NotAllowedError, allow
from graphtrial.core.registry import Registry
from graphtrial.datasets import DATASETS
from graphtrial.encodings import ENCODINGS
from graphtrial.kernels import KERNELS
from graphtrial.metrics import METRICS
from graphtrial.nn import MODELS, model_settings
from graphtrial.tasks import TASKS
from graphtrial.training import PROTOCOLS

_built = 0


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package of two modules, of which each registers one thing with the registry in its `__init__`."""
    global _built
    _built += 1
    name = f"pretend_package_{_built}"
    folder = tmp_path / name
    folder.mkdir()
    folder.joinpath("__init__.py").write_text(
        f"from graphtrial.core.registry import Registry\nTHINGS = Registry('thing', '{name}')\n"
    )
    for thing in ("hammer", "spanner"):
        folder.joinpath(f"{thing}.py").write_text(f"from {name} import THINGS\nTHINGS.add('{thing}', '{thing}!')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def things_of(package: str) -> Registry[str]:
    return import_attribute(f"{package}:THINGS")


def test_modules_are_imported_lazily_at_first_lookup(package: str) -> None:
    things = things_of(package)
    assert f"{package}.hammer" not in sys.modules
    assert things.names() == list(things) == ["hammer", "spanner"]
    assert f"{package}.hammer" in sys.modules
    assert things.get("hammer") == "hammer!"
    assert "hammer" in things
    assert "saw" not in things


def test_unknown_name_suggests_the_nearest(package: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        things_of(package).get("hamer")
    assert str(caught.value) == (
        "no thing called 'hamer'. Did you mean 'hammer'? `graphtrial list things` shows all 2; --plugin adds your own."
    )


def test_duplicate_name_raises() -> None:
    things: Registry[str] = Registry("thing", "graphtrial.tasks")
    things.add("saw", "one")
    things.add("saw", "one")
    with pytest.raises(GraphTrialError, match="two things are called 'saw': 'one' and 'two'"):
        things.add("saw", "two")


def test_decorator_returns_its_argument() -> None:
    things: Registry[type] = Registry("thing", "graphtrial.tasks")

    @things.register("plane")
    class Plane:
        pass

    assert things.get("plane") is Plane


def test_module_attribute_is_imported_only_if_allowed(package: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    (tmp_path / f"{package}_marks.py").write_text(f"import os\nos.mkdir({str(trace)!r})\nthing = 'done'\n")
    path = f"{package}_marks:thing"
    things = things_of(package)
    with pytest.raises(NotAllowedError) as caught:
        things.get(path)
    assert str(caught.value) == (
        f"the thing names code outside graphtrial: '{path}'. If you trust it add --allow {path} "
        f"(in Python: graphtrial.allow('{path}'))"
    )
    assert path not in things
    assert not trace.exists()
    allow(path)
    assert things.get(path) == "done"
    assert trace.exists()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no_such_module_at_all:x", "cannot import 'no_such_module_at_all'"),
        ("math:tauu", "has no 'tauu'. Did you mean 'tau'"),
        *((path, "code outside graphtrial is package.module:attribute") for path in (":x", ".relative:x", "math:")),
        ("os:system;rm -rf ~", "code outside graphtrial is package.module:attribute"),
        (f"{'a' * 10_000}:x", "code outside graphtrial is package.module:attribute"),
    ],
)
def test_missing_module_or_attribute_raises(path: str, message: str) -> None:
    allow(path)
    with pytest.raises(UnknownNameError) as caught:
        TASKS.get(path)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "registry", [MODELS, ENCODINGS, DATASETS, METRICS, TASKS, PROTOCOLS, KERNELS], ids=lambda r: r.kind
)
@pytest.mark.parametrize(
    "path", ["os:system", "os.path:join", "math:pi", "subprocess:Popen", "builtins:dict", "os:path"]
)
def test_imported_attribute_must_have_the_right_kind(registry: Registry[Any], path: str) -> None:
    allow(path)
    if registry is MODELS and path in ("os:system", "os.path:join"):  # functions, whose arguments are looked at
        with pytest.raises(GraphTrialError, match="takes no argument `shapes`"):
            model_settings(path)
        return
    with pytest.raises(GraphTrialError, match=f"is not a valid {registry.kind} but .*: give a "):
        registry.get(path)


def test_abstract_class_names_the_missing_methods() -> None:
    allow("graphtrial.datasets.base:DatasetSpec")
    with pytest.raises(GraphTrialError, match="is an abstract dataset: it does not define parse, split"):
        DATASETS.get("graphtrial.datasets.base:DatasetSpec")


@pytest.mark.parametrize(
    "name", [7, None, "", " ", "a b", "os:system", "../x", "a/../b", "/x", "a,b", "x" * 101, "a\nb"]
)
def test_invalid_name_raises(name: Any) -> None:
    things: Registry[str] = Registry("thing", "graphtrial.tasks")
    with pytest.raises(GraphTrialError, match="no thing can be called") as caught:
        things.add(name, "one")
    assert len(str(caught.value)) < 400
    assert things.contents().things == {}


@pytest.mark.parametrize("name", [7, None, [], True])
def test_non_string_name_raises(name: Any) -> None:
    with pytest.raises(UnknownNameError, match="the name of the task must be a string, not"):
        TASKS.get(name)


def test_entry_point_is_loaded_only_if_allowed(package: str, tmp_path: Path) -> None:
    about = tmp_path / "pretend_tools-1.0.dist-info"
    about.mkdir()
    about.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: pretend-tools\nVersion: 1.0\n")
    about.joinpath("entry_points.txt").write_text("[graphtrial.things]\ndrill = math:pi\nbroken = no_such_module:x\n")
    things = things_of(package)
    assert things.names() == ["broken", "drill", "hammer", "spanner"]  # known without being imported
    assert things.not_allowed() == {"broken": "no_such_module:x", "drill": "math:pi"}
    assert list(things) == ["hammer", "spanner"]
    assert "drill" not in things
    with pytest.raises(NotAllowedError, match=r"is code of an installed package: 'math:pi'. .* add --allow drill"):
        things.get("drill")
    allow("drill")
    assert things.get("drill") == pytest.approx(3.14159265)
    assert "drill" in things
    assert list(things) == ["drill", "hammer", "spanner"]
    assert things.not_allowed() == {"broken": "no_such_module:x"}
    allow("broken")
    with pytest.raises(UnknownNameError, match="cannot import 'no_such_module'"):
        things.get("broken")


def test_failed_module_import_is_retried(package: str, tmp_path: Path) -> None:
    broken = tmp_path / package / "anvil.py"
    broken.write_text("import no_such_module_at_all\n")
    things = things_of(package)
    for _ in range(2):
        with pytest.raises(ImportError):
            things.names()
    broken.unlink()
    assert things.names() == ["hammer", "spanner"]


def test_built_in_tasks_are_registered() -> None:
    assert {"graph-classification", "graph-regression"} <= set(TASKS)


def test_suggestion_ignores_case(package: str) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'hammer'"):
        things_of(package).get("HAMMER")
