"""Recipes of custom datasets: JSON files in the cache, beside copies of the imported files."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from graphtrial.core.arguments import LARGEST, Fraction, Length, NonNegativeInt, Range, Seed, check_value
from graphtrial.core.errors import CorruptFileError, GraphTrialError, UnknownNameError, did_you_mean, short_repr
from graphtrial.core.files import (
    atomic_folder,
    cache_home,
    custom_home,
    read_json,
    reason,
    require_file,
    sha256_of,
    write_text,
)
from graphtrial.core.signatures import check_fields
from graphtrial.core.spec import canonical_json, digest, resolve_arguments
from graphtrial.datasets.base import SplitLevel
from graphtrial.io.sources import File

NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,60}")
FORMAT = 1
SPLIT: dict[str, Any] = {
    "sizes": Annotated[list[NonNegativeInt], Length(3, 3)],
    "folds": Annotated[int, Range(3, LARGEST)],
    "shares": Annotated[list[Fraction], Length(3, 3)],
    "seed": Seed,
    "time": str,
}
"""Arguments of a split and their types."""


@dataclass(frozen=True)
class Recipe:
    """Specification of a custom dataset: generator or file format, arguments, split and imported files.

    `kind` is the name of a generator or file format. `split` is `{"sizes": [a, b, c]}` (consecutive), `{"folds": k,
    "seed": s}` or `{"shares": [a, b, c], "seed": s}` (stratified, or of links); with `"time": column` in place of the
    seed the latest links are held out. A split in the data takes precedence. `files` have name, sha256 and size.
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

    def __post_init__(self) -> None:
        check_fields(self, "a recipe")
        for key, value in self.split.items():
            if key not in SPLIT:
                raise GraphTrialError(f"a split has no argument {short_repr(key)}; it has {', '.join(SPLIT)}")
            check_value(value, SPLIT[key], f"{key} of the split")
        for file in self.files:
            if not isinstance(file.get("name"), str) or Path(file["name"]).name != file["name"]:
                raise GraphTrialError(f"a file of a recipe is called {short_repr(file.get('name'))}")

    @property
    def raw_folder(self) -> str:
        """Content-addressed folder of the files, so that old and new files coexist during a replacement."""
        return digest(list(self.files))[:16]

    @property
    def sources(self) -> tuple[File, ...]:
        """The files as `File` records, which are verified when read."""
        return tuple(
            File(
                f"own/{self.name}/{self.raw_folder}/{file['name']}",
                sha256=file["sha256"],
                size=file["size"],
                licence=self.licence,
            )
            for file in self.files
        )


def write(recipe: Recipe) -> None:
    """Save a recipe."""
    write_text(_path(recipe.name), canonical_json(recipe) + "\n")


def read(name: str) -> Recipe | None:
    """Load a recipe by name, None if there is none."""
    if not NAME.fullmatch(name) or not _path(name).is_file():
        return None
    values = read_json(_path(name))
    try:
        recipe = Recipe(**resolve_arguments(Recipe, values, "a recipe"))
        recipe.sources  # noqa: B018, raises KeyError for an incomplete file entry
    except (TypeError, KeyError, GraphTrialError) as error:
        raise CorruptFileError(f"{_path(name)} is not a recipe of a dataset ({error}); delete it") from error
    if recipe.name != name or recipe.format != FORMAT:
        raise CorruptFileError(f"{_path(name)} is a recipe of another name or version; delete it")
    return recipe


def names() -> list[str]:
    """Return the names of all custom datasets on this machine."""
    return sorted(path.stem for path in custom_home().glob("*.json") if NAME.fullmatch(path.stem))


def copy_files(recipe: Recipe, paths: list[Path]) -> Recipe:
    """Copy files into the cache of raw files and return the recipe with their hashes."""
    filled = replace(recipe, files=tuple(_file_entry(path) for path in paths))
    with atomic_folder(_raw(recipe.name) / filled.raw_folder) as folder:
        for path, file in zip(paths, filled.files, strict=True):
            try:
                shutil.copyfile(path, folder / path.name)
            except OSError as error:
                raise GraphTrialError(f"cannot read {path}: {reason(error)}") from error
            if sha256_of(folder / path.name) != file["sha256"]:
                raise GraphTrialError(f"{path} was changed while it was copied; import it again")
    return filled


def _file_entry(path: Path) -> dict[str, Any]:
    require_file(path)
    try:
        return {"name": path.name, "sha256": sha256_of(path), "size": path.stat().st_size}
    except OSError as error:
        raise GraphTrialError(f"cannot read {path}: {reason(error)}") from error


def remove_stale(name: str, recipe: Recipe | None, prepared: Sequence[Path]) -> None:
    """Remove raw and prepared files of a custom dataset that do not belong to `recipe` and `prepared`."""
    raw = _raw(name)
    current = {path.name for path in prepared} | {f"{path.name}.lock" for path in prepared}
    for folder in raw.iterdir() if raw.is_dir() else ():
        if recipe is None or not recipe.files or folder.name != recipe.raw_folder:
            shutil.rmtree(folder, ignore_errors=True)
    if recipe is None or not recipe.files:
        shutil.rmtree(raw, ignore_errors=True)
    for path in _prepared(name):
        if path.name not in current:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def delete(name: str) -> None:
    """Delete a custom dataset: recipe, raw files and prepared data."""
    if name not in names():
        raise UnknownNameError(
            f"no dataset of your own is called '{name}'.{did_you_mean(name, names())} "
            f"Yours are: {', '.join(names()) or 'none'}."
        )
    _path(name).unlink(missing_ok=True)
    remove_stale(name, None, ())


def _prepared(name: str) -> list[Path]:
    """Return the cache folders of a custom dataset and their locks."""
    pattern = re.compile(re.escape(name) + r"-[0-9a-f]{16}(\.lock)?")
    return [path for path in (cache_home() / "datasets").glob(f"{name}-*") if pattern.fullmatch(path.name)]


def _path(name: str) -> Path:
    return custom_home() / f"{name}.json"


def _raw(name: str) -> Path:
    return cache_home() / "raw" / "own" / name
