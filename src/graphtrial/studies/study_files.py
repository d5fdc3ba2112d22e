"""Studies in TOML files: those of the catalog, and those of users."""

from __future__ import annotations

import re
import sys
from dataclasses import fields
from importlib import resources
from pathlib import Path
from typing import Any

from graphtrial.errors import GraphTrialError, UnknownNameError, did_you_mean
from graphtrial.spec import reject_unknown_keys
from graphtrial.studies.study import Row, Study

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def catalog() -> dict[str, Path]:
    """Return the shipped studies by name, table 2 before table 10."""
    root = Path(str(resources.files("graphtrial.studies"))) / "catalog"
    found = {file.relative_to(root).with_suffix("").as_posix(): file for file in root.rglob("*.toml")}
    return dict(sorted(found.items(), key=lambda item: _by_number(item[0])))


def _by_number(name: str) -> list[tuple[str, int]]:
    return [(words, int(digits or 0)) for words, digits in re.findall(r"(\D*)(\d*)", name)]


def load_study(name: str) -> Study:
    """Read a study from a TOML file or, by name, from the catalog."""
    shipped = catalog()
    path = shipped.get(name, Path(name))
    if name not in shipped and path.suffix != ".toml":
        raise UnknownNameError(
            f"no study called '{name}'.{did_you_mean(name, shipped)} `graphtrial list studies` shows all "
            f"{len(shipped)}; a file of your own must end in .toml."
        )
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise GraphTrialError(f"cannot read the study {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise GraphTrialError(f"the study {path} is not valid TOML: {error}") from error
    return _study(values, str(path.name))


def _study(values: dict[str, Any], what: str) -> Study:
    known = {f.name: None for f in fields(Study) if f.name != "rows"} | {"models": None, "datasets": None}
    reject_unknown_keys(values, known, f"study {what}")
    several = values.pop("datasets", None)
    if several is not None:
        if "dataset" in values:
            raise GraphTrialError(f"study {what} has 'dataset' and 'datasets'; leave out one of them")
        values["dataset"] = _texts(several, f"'datasets' of study {what}")
    if "also" in values:
        values["also"] = _texts(values["also"], f"'also' of study {what}")
    needed: dict[str, type] = {"title": str, "dataset": tuple if several is not None else str, "models": list}
    optional: dict[str, type] = {"protocol": str, "paper": str, "splits": int, "rules": dict, "published": str}
    for key, kind in needed.items():
        if not isinstance(values.get(key), kind):
            raise GraphTrialError(f"study {what} needs a {kind.__name__} '{key}'")
    for key, kind in optional.items():
        if key in values and not isinstance(values[key], kind):
            raise GraphTrialError(f"'{key}' of study {what} must be a {kind.__name__}, not {values[key]!r}")
    rows = tuple(_row(row, what) for row in values.pop("models"))
    seeds = values.pop("seeds", None)
    if isinstance(seeds, list):
        seeds = tuple(seeds)
    return Study(**values, rows=rows, seeds=seeds)


def _row(values: Any, what: str) -> Row:
    if not isinstance(values, dict) or not isinstance(values.get("name"), str):
        raise GraphTrialError(f"every [[models]] of study {what} needs a name")
    settings = dict(values)
    name, encodings, budget = settings.pop("name"), settings.pop("encoding", "none"), settings.pop("budget", None)
    encodings = (encodings,) if isinstance(encodings, str) else tuple(encodings)
    grid, protocol, datasets = settings.pop("grid", {}), settings.pop("protocol", None), settings.pop("datasets", None)
    if not isinstance(grid, dict) or not all(isinstance(tried, list) and tried for tried in grid.values()):
        raise GraphTrialError(f"'grid' of model '{name}' in study {what} must have a list of values for each setting")
    if datasets is not None:
        datasets = _texts(datasets, f"'datasets' of model '{name}' in study {what}")
    tried = {key: tuple(values) for key, values in grid.items()}
    return Row(name, settings, encodings, budget, tried, protocol, datasets)


def _texts(values: Any, what: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not values or not all(isinstance(value, str) for value in values):
        raise GraphTrialError(f"{what} must be a list of names, not {values!r}")
    return tuple(values)
