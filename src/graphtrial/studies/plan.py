"""What a study would run, without the data: rows, numbers of trials, and how many of them a store has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from graphtrial.core.spec import Component, canonical_json
from graphtrial.datasets import DATASETS, load
from graphtrial.nn import Shapes, model_settings, resolve_settings
from graphtrial.published.shapes import known_shapes
from graphtrial.studies.from_table import settings_in_table
from graphtrial.studies.study import Row, Study, choose_settings, parse_encoding
from graphtrial.svm.rules import KernelFoldRules
from graphtrial.training import Protocol
from graphtrial.training.rules import AnyRules, TrainingRules
from graphtrial.trials.store import TrialRecord
from graphtrial.trials.trial import TrialSpec, make_encoding, shapes_for, versions_now


@dataclass(frozen=True)
class PlannedRow:
    """One model with its settings on one dataset, to be tried on `splits` splits with each of the seeds."""

    dataset: str
    model: Component
    encoding: Component | None
    protocol: str
    rules: AnyRules
    splits: int
    seeds: tuple[int, ...]

    @property
    def trials(self) -> int:
        """The number of trials."""
        return self.splits * len(self.seeds)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the model or kernel, defaults included."""
        return self.model.arguments

    @property
    def is_trained(self) -> bool:
        """The row is a network, which is trained in epochs."""
        return isinstance(self.rules, TrainingRules)

    @property
    def model_version(self) -> int:
        """The version of the model that its trials would have now."""
        return versions_now(self.model.name, self.encoding, self.rules)[0]

    @property
    def encoding_version(self) -> int:
        """The same of the encoding."""
        return versions_now(self.model.name, self.encoding, self.rules)[1]

    @property
    def key(self) -> str:
        """What its trials have in common, whatever state the data are in."""
        return _key(self)

    def has(self, trial: TrialSpec) -> bool:
        """Tell whether a trial of this row's kind is on one of its splits with one of its seeds."""
        return trial.split < self.splits and trial.seed in self.seeds


def plan(study: Study) -> list[PlannedRow]:
    """Return the rows that a study consists of; where possible nothing is downloaded or prepared for it."""
    found = (made for name in study.datasets for row in study.rows for made in _planned(study, row, name))
    return list({(made.key, made.splits, made.seeds): made for made in found}.values())


def finished(rows: Iterable[PlannedRow], records: Iterable[TrialRecord]) -> dict[str, list[TrialRecord]]:
    """Return the finished trials of each row, by the key of the row."""
    planned = {row.key: row for row in rows}
    found: dict[str, list[TrialRecord]] = {key: [] for key in planned}
    for record in records:
        key = _key(record.spec)
        if record.is_finished and key in planned and planned[key].has(record.spec):
            found[key].append(record)
    return found


def _planned(study: Study, row: Row, dataset: str) -> Iterator[PlannedRow]:
    if row.datasets is not None and dataset not in row.datasets:
        return
    protocol = study.protocol_for(DATASETS.get(dataset), row)
    seeds = tuple(study.seeds_of(protocol))
    splits = protocol.splits if study.splits is None else study.splits
    title = f"{protocol.name}@{protocol.version}"
    for model, encoding in _components(study, row, dataset, protocol):
        rules = protocol.rules_for(model.name, model.arguments.get("layers"), study.rules)
        yield PlannedRow(dataset, _resolved(model, rules), encoding, title, rules, splits, seeds)


def _components(
    study: Study, row: Row, dataset: str, protocol: Protocol
) -> Iterator[tuple[Component, Component | None]]:
    for text in row.encodings:
        encoding = parse_encoding(text, row.model)
        for settings in row.points():
            if not isinstance(protocol.rules, TrainingRules):
                yield Component(row.model, settings), None
            elif study.published is not None:
                for made in settings_in_table(study.published, dataset, row.model, settings, encoding):
                    yield Component(row.model, made), encoding
            else:
                point = replace(row, settings=settings)
                yield Component(row.model, _settings(dataset, point, encoding)), encoding


def _settings(dataset: str, row: Row, encoding: Component | None) -> dict[str, Any]:
    if "width" in row.settings or "width" not in model_settings(row.model):
        return row.settings
    return choose_settings(dataset, _shapes(dataset, encoding), row, encoding)


def _shapes(dataset: str, encoding: Component | None) -> Shapes:
    made = make_encoding(encoding)
    return known_shapes(dataset, made.width if made else 0) or shapes_for(load(dataset), made)


def _resolved(model: Component, rules: AnyRules) -> Component:
    if isinstance(rules, KernelFoldRules):
        from graphtrial.trials.kinds.kernel_fold import resolve_kernel

        return resolve_kernel(model, rules)
    return (
        Component(model.name, resolve_settings(model.name, model.arguments))
        if isinstance(rules, TrainingRules)
        else model
    )


def _key(thing: PlannedRow | TrialSpec) -> str:
    arguments = dict(thing.settings)
    if isinstance(thing.rules, TrainingRules | KernelFoldRules):
        named: dict[str, Any] = {"name": thing.model.name, "arguments": arguments}
    else:  # what a machine sees of the features is known with the data
        named = {"name": thing.model.name}
    values = {
        "dataset": thing.dataset,
        "model": named,
        "encoding": None if thing.encoding is None else asdict(thing.encoding),
        "protocol": thing.protocol,
        "rules": asdict(thing.rules),
        "versions": [thing.model_version, thing.encoding_version],
    }
    return canonical_json(values)
