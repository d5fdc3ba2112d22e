"""What a user's own dataset is made of: a small JSON file, beside copies of the files it was imported from."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphtrial.datasets.base import SplitLevel
from graphtrial.datasets.sources import File
from graphtrial.errors import CorruptFileError, GraphTrialError, UnknownNameError, did_you_mean
from graphtrial.files import atomic_folder, cache_home, read_json, sha256_of, write_text
from graphtrial.spec import canonical_json

NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,60}")
FORMAT = 1


@dataclass(frozen=True)
class Recipe:
    """How to make a dataset again: its kind, its arguments, how it is split, and the files it was imported from.

    `kind` names a generator or a file format. `split` is `{"sizes": [a, b, c]}` for parts in turn, or `{"folds": k,
    "seed": s}` or `{"shares": [a, b, c], "seed": s}` unless the data says it. `files` have name, sha256 and size.
    """

    name: str
    kind: str
    title: str
    arguments: dict[str, Any] = field(default_factory=dict)
    split: dict[str, Any] = field(default_factory=dict)
    split_level: SplitLevel = "graph"
    task: str = "graph-classification"
    protocol: str | None = None
    licence: str = "not stated"
    files: tuple[dict[str, Any], ...] = ()
    format: int = FORMAT

    @property
    def sources(self) -> tuple[File, ...]:
        """The files as the framework fetches and verifies them."""
        return tuple(
            File(f"own/{self.name}/{file['name']}", sha256=file["sha256"], size=file["size"], licence=self.licence)
            for file in self.files
        )


def write(recipe: Recipe) -> None:
    """Keep a recipe."""
    write_text(_path(recipe.name), canonical_json(recipe) + "\n")


def read(name: str) -> Recipe | None:
    """Return the recipe of that name, or nothing."""
    if not NAME.fullmatch(name) or not _path(name).is_file():
        return None
    values = read_json(_path(name))
    try:
        recipe = Recipe(**{**values, "files": tuple(values["files"])})
        recipe.sources  # noqa: B018, the parts of each file are looked up here
    except (TypeError, KeyError) as error:
        raise CorruptFileError(f"{_path(name)} is no recipe of a dataset ({error}); delete it") from error
    if recipe.name != name or recipe.format != FORMAT:
        raise CorruptFileError(f"{_path(name)} is a recipe of another name or version; delete it")
    return recipe


def names() -> list[str]:
    """Return the names of all own datasets on this machine."""
    return sorted(path.stem for path in _home().glob("*.json") if NAME.fullmatch(path.stem))


def copy_in(name: str, paths: list[Path]) -> tuple[dict[str, Any], ...]:
    """Copy files to where the framework keeps raw ones, and return what a recipe says of them."""
    with atomic_folder(_raw(name)) as folder:
        for path in paths:
            try:
                shutil.copyfile(path, folder / path.name)
            except OSError as error:
                raise GraphTrialError(f"cannot read {path}: {error.strerror or error}") from error
    copies = [_raw(name) / path.name for path in paths]
    return tuple({"name": copy.name, "sha256": sha256_of(copy), "size": copy.stat().st_size} for copy in copies)


@contextmanager
def replacing(name: str) -> Iterator[None]:
    """Set the own dataset of that name aside, if there is one, for another; where making that fails it comes back."""
    old, aside = read(name), _raw(name).with_name(f".{name}.old")
    shutil.rmtree(aside, ignore_errors=True)
    if _raw(name).exists():
        os.replace(_raw(name), aside)
    _clear(name)
    try:
        yield
    except BaseException:
        _clear(name)
        if aside.exists():
            os.replace(aside, _raw(name))
        if old is not None:
            write(old)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def delete(name: str) -> None:
    """Remove an own dataset: recipe, raw files and what was prepared of it."""
    if name not in names():
        raise UnknownNameError(
            f"no dataset of your own is called '{name}'.{did_you_mean(name, names())} "
            f"Yours are: {', '.join(names()) or 'none'}."
        )
    _clear(name)


def _clear(name: str) -> None:
    _path(name).unlink(missing_ok=True)
    shutil.rmtree(_raw(name), ignore_errors=True)
    for kept in (cache_home() / "datasets").glob(f"{name}-*"):
        if re.fullmatch(re.escape(name) + r"-[0-9a-f]{16}", kept.name):
            shutil.rmtree(kept, ignore_errors=True)
        elif re.fullmatch(re.escape(name) + r"-[0-9a-f]{16}\.lock", kept.name):
            kept.unlink(missing_ok=True)


def _home() -> Path:
    return cache_home() / "own"


def _path(name: str) -> Path:
    return _home() / f"{name}.json"


def _raw(name: str) -> Path:
    return cache_home() / "raw" / "own" / name
