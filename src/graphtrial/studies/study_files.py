"""Read studies from TOML files, of the catalog or of users."""

from __future__ import annotations

import re
from dataclasses import fields
from importlib import resources
from pathlib import Path
from typing import Any

from graphtrial.core.arguments import check_value
from graphtrial.core.errors import GraphTrialError, UnknownNameError, did_you_mean, short_repr
from graphtrial.core.files import read_toml
from graphtrial.core.signatures import check_arguments, declared_hints
from graphtrial.core.spec import reject_unknown_keys, resolve_arguments
from graphtrial.studies.study import ModelEntry, Names, Study
from graphtrial.studies.tune_options import TuneOptions


def catalog() -> dict[str, Path]:
    """Return the files of the shipped studies by name, in natural order: table 2 before table 10."""
    root = Path(str(resources.files("graphtrial.studies"))) / "catalog"
    files = {file.relative_to(root).with_suffix("").as_posix(): file for file in root.rglob("*.toml")}
    return dict(sorted(files.items(), key=lambda item: _natural_key(item[0])))


def _natural_key(name: str) -> list[tuple[str, int]]:
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
    return _study(read_toml(path, "the study"), str(path.name))


def _study(values: dict[str, Any], subject: str) -> Study:
    keys = {f.name: None for f in fields(Study) if f.name != "rows"} | {"models": None, "datasets": None}
    reject_unknown_keys(values, keys, f"study {subject}")
    several = values.pop("datasets", None)
    if several is not None:
        if "dataset" in values:
            raise GraphTrialError(f"study {subject} has 'dataset' and 'datasets'; leave out one of them")
        values["dataset"] = check_value(several, Names, f"'datasets' of study {subject}")
    else:
        values["dataset"] = check_value(values.get("dataset"), str, f"'dataset' of study {subject}")
    rows = values.pop("models", None)
    if not isinstance(rows, list):
        raise GraphTrialError(f"study {subject} needs a [[models]] for each model")
    tune = values.pop("tune", None)
    if tune is not None:
        values["tune"] = TuneOptions(**resolve_arguments(TuneOptions, tune, f"[tune] of study {subject}"))
    arguments = check_arguments(Study, values, f"study {subject}")
    if "title" not in arguments:
        raise GraphTrialError(f"study {subject} needs a title")
    return Study(**arguments, rows=tuple(_row(row, subject) for row in rows))


def _row(values: Any, subject: str) -> ModelEntry:
    if not isinstance(values, dict) or not isinstance(values.get("name"), str):
        raise GraphTrialError(f"every [[models]] of study {subject} needs a name")
    settings = dict(values)
    name = settings.pop("name")
    field_of = {"encoding": "encodings", **{key: key for key in ("budget", "grid", "protocol", "datasets", "rules")}}
    hints, where = declared_hints(ModelEntry), f"of model {short_repr(name)} in study {subject}"
    arguments = {
        field: check_value(settings.pop(key), hints[field], f"{key} {where}")
        for key, field in field_of.items()
        if key in settings
    }
    return ModelEntry(name, settings, **arguments)
