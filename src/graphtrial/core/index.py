"""Generated index of what is built in: the module of each registered name, and the entries of `graphtrial list`.

With it one name is found without importing the modules of all, and listing needs no import at all. A test compares it
with the registries, and `python -m tools.index` writes it; where files have changed since, it is not used.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]
FILE = PACKAGE / "index.json"


@dataclass(frozen=True)
class Indexed:
    """What is built in of one kind: its entries as listed, and the module of each name of a registry."""

    entries: list[dict[str, Any]]
    modules: dict[str, str]


def indexed(plural: str) -> Indexed | None:
    """Return the index of a kind such as `models`, or `None` if it is absent or older than the files."""
    part = _content().get(plural)
    if not isinstance(part, dict) or part["stamp"] != stamp(part["files"]):
        return None
    return Indexed(part["entries"], part["modules"])


def indexed_names(plural: str) -> list[str]:
    """Return the indexed names of a kind without comparing the index with the files, for completion by a shell."""
    part = _content().get(plural)
    return [str(entry["name"]) for entry in part["entries"]] if isinstance(part, dict) else []


def module_of(plural: str, packages: Iterable[str], name: str) -> str | None:
    """Return the module that registers a built-in name, if the index is of these packages and knows it."""
    part = _content().get(plural)
    if not isinstance(part, dict) or part["files"] != files_of(packages) or name not in part["modules"]:
        return None
    entries = _indexed_once(plural)
    return None if entries is None else entries.modules[name]


def files_of(packages: Iterable[str]) -> list[str]:
    """Return the folders of packages, relative to this one."""
    return [name.partition(".")[2].replace(".", "/") for name in packages]


def stamp(folders: Iterable[str]) -> int:
    """Return a checksum of names and contents of all files in these folders."""
    value = 0
    for folder in folders:
        for path in sorted((PACKAGE / folder).rglob("*")):
            if path.suffix in (".py", ".toml", ".jsonl"):
                value = zlib.crc32(path.read_bytes(), zlib.crc32(path.name.encode(), value))
    return value


@cache
def _indexed_once(plural: str) -> Indexed | None:
    """Return the index as of the first look: a running process does not notice that files were edited."""
    return indexed(plural)


@cache
def _content() -> dict[str, Any]:
    try:
        content = json.loads(FILE.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
