"""The model that is tuned: dataset, protocol and everything that the search does not vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.rules import Rules
from graphtrial.core.spec import Component
from graphtrial.datasets import DATASETS, Dataset, load
from graphtrial.datasets.custom.library.resolve import is_to_import
from graphtrial.nn import MODELS, Shapes, model_settings, parse_budget, width_for_budget
from graphtrial.nn.budget import parameter_count
from graphtrial.nn.registry import width_step
from graphtrial.studies import ModelEntry, Study
from graphtrial.studies.check import check_without_data
from graphtrial.studies.plan import expand
from graphtrial.studies.study import DEFAULT_BUDGET, parse_encoding
from graphtrial.training import Protocol
from graphtrial.trials.kinds import TrialKind, kind_of
from graphtrial.trials.shapes import make_encoding, shapes_for
from graphtrial.trials.trial import TrialSpec
from graphtrial.tuning.space import Point, Space, fixed


class TooLargeError(GraphTrialError):
    """A configuration exceeds the parameter budget."""


@dataclass(frozen=True)
class Configuration:
    """One point of a search: settings of the model with an explicit width, encoding, and changed rules."""

    settings: dict[str, Any]
    encoding: str
    rules: dict[str, Any]


@dataclass(frozen=True)
class Subject:
    """A model on a dataset under a protocol, with the settings, encoding and rules that are given.

    `params` is the parameter budget: the width is the largest within it, or, where the width is given or searched,
    larger models are not tried.
    """

    dataset: str
    model: str
    settings: dict[str, Any] = field(default_factory=dict)
    encoding: str = "none"
    params: str | None = None
    protocol: str | None = None
    rules: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if is_to_import(self.dataset):
            entry = ModelEntry(self.model, self.settings, (self.encoding,), self.params)
            check_without_data(Study("tuning", self.dataset, (entry,), protocol=self.protocol, rules=self.rules))
        protocol = self.protocol_used
        kind = self.kind
        if protocol.kernel_rules is None or kind.has_epochs:
            MODELS.get(self.model)
        if not kind.has_epochs:
            kind.resolve(Component(self.model))
            raise GraphTrialError(
                f"{protocol.name} fits a support vector machine, which selects its penalty on the validation part "
                "already: there is nothing to tune"
            )
        if kind.draws_folds:
            raise GraphTrialError(
                f"{protocol.name} draws its folds by the seed, so that a validation graph of the search is a test "
                "graph of another seed: tune under a protocol with fixed splits"
            )
        parse_encoding(self.encoding, self.model)
        if self.params is not None:
            parse_budget(self.params)
            if "width" not in model_settings(self.model):
                raise GraphTrialError(f"model '{self.model}' has no width, which a parameter budget would determine")

    @cached_property
    def protocol_used(self) -> Protocol:
        """The protocol: the given one, or that of the dataset."""
        study = Study("tuning", self.dataset, (ModelEntry(self.model),), protocol=self.protocol)
        return study.protocol_for(DATASETS.get(self.dataset), study.rows[0])

    @property
    def kind(self) -> TrialKind[Any]:
        """The kind of trial of the model under the protocol."""
        return kind_of(self.protocol_used.rules_for(self.model))

    @cached_property
    def data(self) -> Dataset:
        """The dataset, loaded; it is prepared first where needed."""
        return load(self.dataset)

    @cached_property
    def base_rules(self) -> Rules:
        """The training rules before any of them is searched."""
        return self.protocol_used.rules_for(self.model, self.settings.get("layers"), self.rules)

    def narrowed(self, space: Space) -> Space:
        """Return the space without the parameters that are given here."""
        given = {**self.settings, **self.rules}
        if self.encoding != "none":
            given["encoding"] = self.encoding
        left = fixed(space, given)
        if left is None:
            raise GraphTrialError(f"every parameter of the space {space.name} is given: there is nothing to search")
        return left

    def configure(self, space: Space, point: Point) -> Configuration:
        """Return the configuration at a point, with a width; one that cannot be built or is too large is an error."""
        values: dict[str, dict[str, Any]] = {"settings": {}, "rules": {}, "encoding": {}}
        for name, value in point.items():
            values[space[name].part][name] = value
        encoding = values["encoding"].get("encoding", self.encoding)
        settings = {**self.settings, **values["settings"]}
        settings = self._with_width(settings, parse_encoding(encoding, self.model))
        self.base_rules.changed(values["rules"])
        return Configuration(settings, encoding, {**self.rules, **values["rules"]})

    def _with_width(self, settings: dict[str, Any], encoding: Component | None) -> dict[str, Any]:
        shapes = self._shapes(encoding)
        follows = "width" not in settings and "width" in model_settings(self.model)
        if self.params is None and not follows:
            parameter_count(self.model, shapes, settings)  # settings that contradict each other are an error
            return settings
        budget = parse_budget(self.params or DEFAULT_BUDGET)
        if follows:
            return {**settings, "width": _widest(self.model, shapes, settings, budget)}
        params = parameter_count(self.model, shapes, settings)
        if params > budget:
            raise TooLargeError(f"model '{self.model}' has {params:,} parameters, more than {budget:,}")
        return settings

    def _shapes(self, encoding: Component | None) -> Shapes:
        key = "none" if encoding is None else str(encoding)
        if key not in self._shapes_by_encoding:
            self._shapes_by_encoding[key] = shapes_for(self.data, make_encoding(encoding))
        return self._shapes_by_encoding[key]

    @cached_property
    def _shapes_by_encoding(self) -> dict[str, Shapes]:
        return {}

    def trials(
        self,
        configuration: Configuration,
        seeds: Sequence[int] | int | None,
        splits: int | None,
        *,
        score_test: bool,
        fold: int | None = None,
    ) -> list[TrialSpec]:
        """Return the trials of a configuration: those of `graphtrial run`, or the same without a test score.

        With `fold`, those on that split alone.
        """
        study = self.study(configuration, tuple(seeds) if isinstance(seeds, Sequence) else seeds, splits)
        trials = (trial for row in expand(study, lambda name: self.data) for trial in row.resolve(self.data))
        return [
            trial if score_test else replace(trial, score_test=False)
            for trial in trials
            if fold is None or trial.split == fold
        ]

    def study(self, configuration: Configuration, seeds: tuple[int, ...] | int | None, splits: int | None) -> Study:
        """Return the study of one row that `graphtrial run` would run with this configuration."""
        return Study(
            f"{self.model} on {self.dataset}",
            self.dataset,
            (ModelEntry(self.model, configuration.settings, (configuration.encoding,)),),
            protocol=self.protocol,
            seeds=seeds,
            splits=splits,
            rules=configuration.rules,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the subject as JSON-like values, with the protocol by name and version and the hash of the data."""
        protocol = self.protocol_used
        return {
            **{name: getattr(self, name) for name in self.__dataclass_fields__},
            "dataset": DATASETS.get(self.dataset).name,
            "data": self.data.hash,
            "protocol": f"{protocol.name}@{protocol.version}",
        }


def _widest(model: str, shapes: Shapes, settings: Mapping[str, Any], budget: int) -> int:
    try:
        return width_for_budget(model, shapes, dict(settings), budget)
    except GraphTrialError as error:
        narrow = 4 * width_step(model, dict(settings))
        parameter_count(model, shapes, {**settings, "width": narrow})  # raises where the settings are the reason
        raise TooLargeError(str(error)) from error
