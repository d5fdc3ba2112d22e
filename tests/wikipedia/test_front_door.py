"""The pipeline is self-contained: outside code uses its front door, and only its dataset knows of datasets."""

from __future__ import annotations

import re
from pathlib import Path

import graphtrial
from graphtrial import wikipedia

ROOT = Path(graphtrial.__file__).parent
IMPORT = re.compile(r"^\s*(?:from|import) (graphtrial[\w.]*)", re.MULTILINE)
EXPORT = {"dataset.py", "pipeline.py"}
SHARED = {"graphtrial.datasets.generators.draws", "graphtrial.datasets.generators.wikics"}
"""Random streams of the synthetic wiki, and the class names of Wiki-CS."""


def imports(path: Path) -> list[str]:
    return IMPORT.findall(path.read_text(encoding="utf-8"))


def test_outside_code_imports_only_from_the_package_itself() -> None:
    outside = [path for path in ROOT.rglob("*.py") if not path.is_relative_to(ROOT / "wikipedia")]
    assert len(outside) > 100
    names = {(path.name, name) for path in outside for name in imports(path)}
    assert [pair for pair in names if pair[1].startswith("graphtrial.wikipedia.")] == []


def test_only_its_export_imports_datasets() -> None:
    files = [path for path in (ROOT / "wikipedia").rglob("*.py") if path.name not in EXPORT]
    names = {name for path in files for name in imports(path)} - SHARED
    packages = {".".join(name.split(".")[:2]) for name in names}
    assert packages == {"graphtrial.core", "graphtrial.graphs", "graphtrial.wikipedia"}


def test_all_public_names_are_exported() -> None:
    assert all(hasattr(wikipedia, name) for name in wikipedia.__all__)
