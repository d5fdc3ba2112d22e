"""Write the index of everything built in, `src/graphtrial/index.json`: `python -m tools.index`."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import tempfile
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any
from unittest import mock

from graphtrial.cli.listing import KINDS, LISTINGS
from graphtrial.cli.studies import study_entries
from graphtrial.core.files import write_text
from graphtrial.core.index import FILE, files_of, stamp
from graphtrial.core.plugins.registries import registry_of
from graphtrial.core.registry import Registry

OF_STUDIES = ["studies", "published", "shipped", "training/protocols"]
"""Folders that the plan of a study of the catalog depends on."""


def main() -> None:
    """Write the index."""
    parts = ",\n".join(f" {json.dumps(kind)}: {_lines(part)}" for kind, part in build().items())
    write_text(FILE, f"{{\n{parts}\n}}\n")


def build() -> dict[str, dict[str, Any]]:
    """Return the index of every kind that can be listed, as JSON reads it."""
    content = {kind: _studies() if kind == "studies" else _registry(kind) for kind in KINDS}
    result: dict[str, dict[str, Any]] = json.loads(json.dumps(content))
    return result


def _registry(kind: str) -> dict[str, Any]:
    registry = registry_of(kind)
    if registry is None:
        raise SystemExit(f"the registry of {kind} needs a package that is not installed")
    folders = files_of(registry.packages)
    modules = _modules(registry)
    names = registry.built_in().things
    entries = [entry for entry in LISTINGS[kind]() if entry["name"] in names]
    return {"files": folders, "stamp": stamp(folders), "modules": modules, "entries": entries}


def _modules(registry: Registry[Any]) -> dict[str, str]:
    """Return the module that registers each built-in, where that is certain."""
    things = registry.built_in().things
    modules = {
        name: thing.__module__ if isinstance(thing, type | FunctionType) else _by_source(registry, name)
        for name, thing in sorted(things.items())
    }
    return {name: module for name, module in modules.items() if module.startswith(registry.packages)}


def _by_source(registry: Registry[Any], name: str) -> str:
    """Return the one module whose source has this name in quotes, or nothing: an object has no module of its own."""
    names = []
    for package in registry.packages:
        folder = importlib.import_module(package).__path__
        for info in pkgutil.iter_modules(folder, f"{package}."):
            spec = find_spec(info.name)
            source = Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""
            if f'"{name}"' in source:
                names.append(info.name)
    return names[0] if len(names) == 1 else ""


def _studies() -> dict[str, Any]:
    """Return the index of the studies, without what was timed on this machine."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, GRAPHTRIAL_HOME=folder):
        entries = study_entries(Path(folder) / "none.sqlite", estimate=False, only=[], parallel=1)
    return {"files": OF_STUDIES, "stamp": stamp(OF_STUDIES), "modules": {}, "entries": entries}


def _lines(part: dict[str, Any]) -> str:
    """Format one entry a line, so that a change is a line in the history."""
    entries = ",\n".join(f"   {json.dumps(entry, ensure_ascii=False)}" for entry in part["entries"])
    facts = {key: value for key, value in part.items() if key != "entries"}
    return f'{json.dumps(facts)[:-1]},\n  "entries": [\n{entries}\n  ]}}'


if __name__ == "__main__":
    main()
