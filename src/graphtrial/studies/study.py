"""A study: a declared grid of trials, in one TOML file or made from the command line."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from importlib import resources
from pathlib import Path
from typing import Any

from graphtrial.datasets import Dataset, load
from graphtrial.datasets.base import published_name
from graphtrial.encodings import ENCODINGS
from graphtrial.errors import GraphTrialError, UnknownNameError, did_you_mean
from graphtrial.nn import Shapes, model_settings, parse_budget, width_for_budget
from graphtrial.published import configuration
from graphtrial.published.configs import SETTINGS
from graphtrial.spec import Component, reject_unknown_keys
from graphtrial.studies.trial import TrialSpec, make_encoding, make_trial, shapes_for
from graphtrial.training import PROTOCOLS, Protocol, SvmRules

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DEFAULT_BUDGET = "100k"
DEFAULT_PAPER = "bgnn-v5"
PUBLISHED_SETTINGS = tuple(key for key in SETTINGS if key != "edge_features")
"""What a row takes from the released configuration; whether edge features are looked at is its own to say."""


@dataclass(frozen=True)
class Row:
    """One model of a study: its settings, the encodings it is tried with, and how its width is chosen."""

    model: str
    settings: dict[str, Any] = field(default_factory=dict)
    encodings: tuple[str, ...] = ("none",)
    budget: str | None = None


@dataclass(frozen=True)
class Study:
    """A grid of trials: rows x encodings x splits x seeds, on one dataset under one protocol.

    `seeds` and `splits` take that many of the protocol's; all by default. `rules` overrides single training rules,
    which gives trials of another identity that are never mixed with the protocol's own.
    """

    title: str
    dataset: str
    rows: tuple[Row, ...]
    protocol: str | None = None
    paper: str = ""
    seeds: int | tuple[int, ...] | None = None
    splits: int | None = None
    rules: dict[str, Any] = field(default_factory=dict)

    def trials(self) -> list[TrialSpec]:
        """Return every trial of the grid, fully resolved; the dataset is prepared where it is not yet."""
        dataset = load(self.dataset)
        protocol = self._protocol(dataset)
        kernels = isinstance(protocol.rules, SvmRules)
        made = []
        for model, encoding in self._kernels() if kernels else self._models(dataset):
            rules = protocol.rules_for(model.name, model.arguments.get("layers"), self.rules)
            for split in range(self._split_count(protocol, dataset)):
                for seed in self._seeds(protocol):
                    name = f"{protocol.name}@{protocol.version}"
                    made.append(make_trial(dataset, model, encoding, name, rules, split=split, seed=seed))
        return made

    def _protocol(self, dataset: Dataset) -> Protocol:
        chosen, usual = self.protocol or dataset.spec.protocol, f"{DEFAULT_PAPER}/{dataset.name}"
        if chosen is None and usual not in PROTOCOLS:
            raise GraphTrialError(
                f"{self.dataset} has no training rules of its own: choose some with --protocol, "
                "`graphtrial list protocols` shows all"
            )
        return PROTOCOLS.get(chosen or usual)

    def _kernels(self) -> Iterator[tuple[Component, None]]:
        for row in self.rows:
            if row.encodings != ("none",) or row.budget is not None:
                raise GraphTrialError(f"kernel '{row.model}' takes neither an encoding nor a budget")
            yield Component(row.model, row.settings), None

    def _models(self, dataset: Dataset) -> Iterator[tuple[Component, Component | None]]:
        for row in self.rows:
            for text in row.encodings:
                encoding = parse_encoding(text)
                shapes = shapes_for(dataset, make_encoding(encoding))
                yield Component(row.model, choose_settings(dataset.name, shapes, row, encoding)), encoding

    def _seeds(self, protocol: Protocol) -> Sequence[int]:
        if isinstance(self.seeds, tuple):
            return self.seeds
        count = len(protocol.seeds) if self.seeds is None else self.seeds
        if not 1 <= count <= len(protocol.seeds):
            raise GraphTrialError(f"{protocol.name} has {len(protocol.seeds)} seeds; {count} of them were asked for")
        return protocol.seeds[:count]

    def _split_count(self, protocol: Protocol, dataset: Dataset) -> int:
        there = protocol.splits if isinstance(protocol.rules, SvmRules) else min(protocol.splits, len(dataset.splits))
        count = there if self.splits is None else self.splits
        if not 1 <= count <= there:
            raise GraphTrialError(f"{protocol.name} has {there} splits; {count} of them were asked for")
        return count


def parse_encoding(text: str) -> Component | None:
    """Read an encoding such as `laplacian:20`; `none` is none."""
    if text == "none":
        return None
    component = Component.parse(text, ENCODINGS.get)
    make_encoding(component)  # a wrong argument shows here, not in a worker
    return component


def choose_settings(dataset: str, shapes: Shapes, row: Row, encoding: Component | None) -> dict[str, Any]:
    """Return the settings of a row with a width: the one given, the one for the budget, or the published one.

    A model without a published configuration gets the widest one within 100k parameters.
    """
    known = model_settings(row.model)
    if row.budget is not None and "width" not in known:
        raise GraphTrialError(f"model '{row.model}' has no setting `width`, so no budget can choose it")
    if "width" in row.settings or "width" not in known:
        return row.settings
    if row.budget is None:
        published = configuration(
            published_name(dataset),
            row.model,
            encoding=encoding is not None,
            edge_features=bool(row.settings.get("edge_features")),
            layers=row.settings.get("layers"),
        )
        if published:
            return {
                key: published[key] for key in PUBLISHED_SETTINGS if key in known and key in published
            } | row.settings
    width = width_for_budget(row.model, shapes, row.settings, parse_budget(row.budget or DEFAULT_BUDGET))
    return {**row.settings, "width": width}


def catalog() -> dict[str, Path]:
    """Return the shipped studies by name."""
    root = Path(str(resources.files("graphtrial.studies"))) / "catalog"
    return {file.relative_to(root).with_suffix("").as_posix(): file for file in sorted(root.rglob("*.toml"))}


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
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GraphTrialError(f"the study {path} is not valid TOML: {error}") from error
    return _study(values, str(path.name))


def _study(values: dict[str, Any], what: str) -> Study:
    known = {f.name: None for f in fields(Study) if f.name != "rows"} | {"models": None}
    reject_unknown_keys(values, known, f"study {what}")
    needed: dict[str, type] = {"title": str, "dataset": str, "models": list}
    optional: dict[str, type] = {"protocol": str, "paper": str, "splits": int, "rules": dict}
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
    return Row(name, settings, encodings, budget)
