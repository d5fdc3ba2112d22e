"""The solver is self-contained: outside code uses its front door, and it uses nothing of graphtrial but core."""

from __future__ import annotations

import re
from pathlib import Path

import graphtrial
from graphtrial import tsp

ROOT = Path(graphtrial.__file__).parent
IMPORT = re.compile(r"^\s*(?:from|import) (graphtrial[\w.]*)", re.MULTILINE)


def test_outside_code_imports_only_from_the_package_itself() -> None:
    outside = [path for path in ROOT.rglob("*.py") if not path.is_relative_to(ROOT / "tsp")]
    assert len(outside) > 100
    deep = [
        (path.name, name)
        for path in outside
        for name in IMPORT.findall(path.read_text())
        if name.startswith("graphtrial.tsp.")
    ]
    assert deep == []


def test_solver_imports_only_core_of_graphtrial() -> None:
    names = {name for path in (ROOT / "tsp").glob("*.py") for name in IMPORT.findall(path.read_text())}
    assert {".".join(name.split(".")[:2]) for name in names} == {"graphtrial.core", "graphtrial.tsp"}


def test_all_public_names_are_exported() -> None:
    assert all(hasattr(tsp, name) for name in tsp.__all__)
