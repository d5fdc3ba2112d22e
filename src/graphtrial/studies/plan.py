"""Expansion of a study into rows: a plan without data, or trials with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.plugins.origins import origin_digests
from graphtrial.core.spec import Component, canonical_json
from graphtrial.datasets import DATASETS, Dataset, load
from graphtrial.encodings.notation import short_encoding
from graphtrial.nn import MODELS, Shapes, parameter_count
from graphtrial.published.lookup import models_in_table
from graphtrial.studies.study import ModelEntry, Study, choose_settings, parse_encoding
from graphtrial.training import Rules
from graphtrial.trials.kinds import TrialKind, kind_of
from graphtrial.trials.provenance import current_versions
from graphtrial.trials.shapes import make_encoding, planned_shapes, shapes_for
from graphtrial.trials.store import TrialRecord
from graphtrial.trials.trial import TrialSpec, make_trial


@dataclass(frozen=True)
class PlannedRow:
    """One model with resolved settings on one dataset, to be run on `splits` splits with each of the seeds."""

    dataset: str
    model: Component
    encoding: Component | None
    protocol: str
    rules: Rules
    splits: int
    seeds: tuple[int, ...]

    @property
    def kind(self) -> TrialKind[Any]:
        """The kind of its trials."""
        return kind_of(self.rules)

    @property
    def trials(self) -> int:
        """The number of trials."""
        return self.splits * len(self.seeds)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the model or kernel, defaults included."""
        return self.kind.settings(self.model)

    @property
    def model_version(self) -> int:
        """The current version of the model or kernel."""
        return current_versions(self.kind, self.model.name, self.encoding)[0]

    @property
    def encoding_version(self) -> int:
        """The current version of the encoding."""
        return current_versions(self.kind, self.model.name, self.encoding)[1]

    @property
    def key(self) -> str:
        """Everything that its trials have in common except the data."""
        return row_key(self)

    def has(self, trial: TrialSpec) -> bool:
        """Whether a trial of the same key is on one of the splits with one of the seeds."""
        return trial.split < self.splits and trial.seed in self.seeds

    def resolve(self, dataset: Dataset) -> Iterator[TrialSpec]:
        """Yield the trials on a loaded dataset, split by split."""
        for split in range(self.splits):
            for seed in self.seeds:
                yield make_trial(dataset, self.model, self.encoding, self.protocol, self.rules, split=split, seed=seed)


def plan(study: Study) -> list[PlannedRow]:
    """Return the rows of a study; only datasets without published shapes are loaded."""
    return expand(study, lambda name: None)


def resolve(study: Study) -> list[TrialSpec]:
    """Return the trials of a study, fully resolved; datasets are prepared first where needed."""
    loaded = cache(load)
    return [trial for row in expand(study, loaded) for trial in row.resolve(loaded(row.dataset))]


def expand(study: Study, data: Callable[[str], Dataset | None]) -> list[PlannedRow]:
    """Return the distinct rows of a study; `data` gives a dataset by name, or `None` to plan without it.

    With a dataset, its shapes decide the width for a parameter budget, and its number of splits is checked.
    """
    rows = (
        row
        for name in study.datasets
        for entry in study.rows
        if entry.datasets is None or name in entry.datasets
        for row in _rows(study, entry, name, data)
    )
    return list({(row.key, row.splits, row.seeds): row for row in rows}.values())


def finished(rows: Iterable[PlannedRow], records: Iterable[TrialRecord]) -> dict[str, list[TrialRecord]]:
    """Return the finished trials of each row, by the key of the row."""
    planned = {row.key: row for row in rows}
    of_row: dict[str, list[TrialRecord]] = {key: [] for key in planned}
    for record in records:
        key = row_key(record.spec)
        if record.is_finished and key in planned and planned[key].has(record.spec):
            of_row[key].append(record)
    return of_row


def _rows(study: Study, entry: ModelEntry, dataset: str, data: Callable[[str], Dataset | None]) -> Iterator[PlannedRow]:
    spec = DATASETS.get(dataset)  # of an alias: trials have the name of the dataset itself
    protocol = study.protocol_for(spec, entry)
    seeds = tuple(study.seeds_of(protocol))
    title = f"{protocol.name}@{protocol.version}"
    kind = kind_of(protocol.rules_for(entry.model, changes=study.rules_of(entry)))
    for model, encoding in _components(study, entry, dataset, data, kind, protocol.name):
        rules = protocol.rules_for(model.name, model.arguments.get("layers"), study.rules_of(entry))
        splits = study.split_count(protocol, rules, data(dataset))
        yield PlannedRow(spec.name, kind_of(rules).resolve(model), encoding, title, rules, splits, seeds)


def _components(
    study: Study,
    entry: ModelEntry,
    dataset: str,
    data: Callable[[str], Dataset | None],
    kind: TrialKind[Any],
    protocol: str,
) -> Iterator[tuple[Component, Component | None]]:
    """Yield each model with its settings and encoding, before defaults are filled in."""
    check_entry(entry, kind)
    for text in entry.encodings:
        encoding = parse_encoding(text, entry.model) if kind.takes_encodings else None
        for settings in entry.points():
            for complete in _settings(
                study, replace(entry, settings=settings), encoding, dataset, data, kind, protocol
            ):
                yield Component(entry.model, complete), encoding


def _settings(
    study: Study,
    entry: ModelEntry,
    encoding: Component | None,
    dataset: str,
    data: Callable[[str], Dataset | None],
    kind: TrialKind[Any],
    protocol: str,
) -> list[dict[str, Any]]:
    """Return the settings at one point of the grid: one set, or one per matching row of the published table."""

    def shapes() -> Shapes:
        loaded = data(dataset)
        built = make_encoding(encoding)
        return kind.shapes(planned_shapes(dataset, built) if loaded is None else shapes_for(loaded, built))

    if not kind.takes_encodings:
        return [entry.settings]
    if study.published is not None:
        return _settings_in_table(study.published, dataset, entry.model, entry.settings, encoding)
    settings = choose_settings(dataset, shapes, entry, encoding, protocol)
    if data(dataset) is not None and not origin_digests(MODELS.get(entry.model)):  # code of users runs in trials alone
        parameter_count(entry.model, shapes(), settings)  # an error here would be that of every trial
    return [settings]


def _settings_in_table(
    table: str, dataset: str, model: str, settings: dict[str, Any], encoding: Component | None
) -> list[dict[str, Any]]:
    """Return the settings of every experiment of a published table with this model, dataset, encoding and settings."""
    rows = models_in_table(table, dataset, model, settings, encoding)
    if not rows:
        listed = ", ".join(f"{key} = {value}" for key, value in settings.items()) or "any settings"
        raise GraphTrialError(
            f"{table} has no row on {dataset} for {model} with {listed}, encoding {short_encoding(encoding)}"
        )
    return [{**published.settings, **settings} for _, published in rows]


def check_entry(entry: ModelEntry, kind: TrialKind[Any]) -> None:
    """Raise an error where an encoding or a budget is given to a kind of trial that takes none."""
    if not kind.takes_encodings and (entry.encodings != ("none",) or entry.budget is not None):
        raise GraphTrialError(f"'{entry.model}' in a support vector machine takes neither an encoding nor a budget")


def row_key(row: PlannedRow | TrialSpec) -> str:
    """Return everything that the trials of a row have in common except the data."""
    values = {
        "dataset": row.dataset,
        "model": {"name": row.model.name, "arguments": row.settings},
        "encoding": None if row.encoding is None else asdict(row.encoding),
        "protocol": row.protocol,
        "rules": row.rules.to_dict(),
        "versions": [row.model_version, row.encoding_version],
    }
    return canonical_json(values)
