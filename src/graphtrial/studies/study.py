"""A study: a declared grid of trials."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Annotated, Any

from graphtrial.core.arguments import Length, PositiveInt, Range, Seed
from graphtrial.core.errors import GraphTrialError, UnknownNameError, did_you_mean
from graphtrial.core.signatures import check_fields
from graphtrial.core.spec import Component
from graphtrial.datasets import Dataset, DatasetSpec
from graphtrial.datasets.base import published_name
from graphtrial.encodings import ENCODINGS
from graphtrial.encodings.combined import combine
from graphtrial.encodings.notation import checked_parts, short_encoding
from graphtrial.nn import MODELS, Shapes, implied_settings, model_settings, parse_budget, width_for_budget
from graphtrial.published import released_configuration
from graphtrial.published.configurations import AS_PUBLISHED
from graphtrial.studies.tune_options import TuneOptions
from graphtrial.training import PROTOCOLS, Protocol, Rules
from graphtrial.trials.kinds import kind_of
from graphtrial.trials.shapes import make_encoding
from graphtrial.trials.trial import TrialSpec

MOST_POINTS = 10_000
Names = Annotated[tuple[str, ...], Length(1)]
DEFAULT_BUDGET = "100k"
MOST_SEEDS = 10_000
DEFAULT_PAPER = "bgnn-v5"


@dataclass(frozen=True)
class ModelEntry:
    """One model of a study: settings, encodings and parameter budget, or a grid of settings.

    `grid` maps settings to values, of which all combinations are run. `protocol` and `datasets` override those of the
    study, `rules` single rules of it. `as_published`: the settings that the model declares so are its defaults, which
    explicit settings and a released configuration override. `released`: settings that are not given are those of the
    configuration released for the protocol, if there is one, also beside a width, depth or budget of the row.
    """

    model: str
    settings: dict[str, Any] = field(default_factory=dict)
    encodings: Names = ("none",)
    budget: str | None = None
    grid: dict[str, Annotated[tuple[Any, ...], Length(1, MOST_POINTS)]] = field(default_factory=dict)
    protocol: str | None = None
    datasets: Names | None = None
    rules: dict[str, Any] = field(default_factory=dict)
    as_published: bool = False
    released: bool = False

    def __post_init__(self) -> None:
        check_fields(self, "the row of a study")
        if prod(map(len, self.grid.values())) > MOST_POINTS:
            raise GraphTrialError(f"the grid of model '{self.model}' has more than {MOST_POINTS:,} points")

    def points(self) -> Iterator[dict[str, Any]]:
        """Yield the settings at each point of the grid, the last setting varying fastest."""
        for values in product(*self.grid.values()):
            yield {**self.settings, **dict(zip(self.grid, values, strict=True))}


@dataclass(frozen=True)
class Study:
    """A grid of trials: datasets x rows x encodings x splits x seeds, under one protocol or the rows' own.

    `also` are optional datasets, run only on request. `seeds` and `splits` are the numbers of seeds and splits of the
    protocol to use; all by default. `rules` overrides single training rules, which gives trials of another identity,
    never mixed with those of the protocol. With `published`, such as `bgnn-v5/table-3`, a row expands to every matching
    row of that table, with its settings. A `*` in a protocol is replaced by the name of the dataset. With `tune` every
    row is also tuned on every dataset, each under the same budget; its trials are those of the rows as declared.
    """

    title: str
    dataset: str | Names
    rows: tuple[ModelEntry, ...]
    protocol: str | None = None
    paper: str = ""
    seeds: Annotated[int, Range(1, MOST_SEEDS)] | Annotated[tuple[Seed, ...], Length(1, MOST_POINTS)] | None = None
    splits: PositiveInt | None = None
    rules: dict[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    published: str | None = None
    tune: TuneOptions | None = None

    def __post_init__(self) -> None:
        check_fields(self, "the study")

    def trials(self) -> list[TrialSpec]:
        """Return every trial of the grid, fully resolved; datasets are prepared first where needed."""
        from graphtrial.studies.check import check_without_data
        from graphtrial.studies.plan import resolve

        check_without_data(self)
        return resolve(self)

    @property
    def datasets(self) -> tuple[str, ...]:
        """The datasets, one or several."""
        return (self.dataset,) if isinstance(self.dataset, str) else self.dataset

    @property
    def needs_sklearn(self) -> bool:
        """Whether some trial fits a support vector machine with scikit-learn."""
        protocols = ((row.protocol or self.protocol, row.model) for row in self.rows)
        rules = (PROTOCOLS.get(name).rules_for(model) for name, model in protocols if name and "*" not in name)
        return any(kind_of(each).needs_sklearn for each in rules)

    def only(self, datasets: Sequence[str] = (), models: Sequence[str] = (), seeds: int | None = None) -> Study:
        """Return the study restricted to these datasets, models or kernels, and number of seeds.

        Names of datasets are case-insensitive, and a suffix after `+` may be left out.
        """
        selected, rows = self.datasets, self.rows
        if datasets:
            selected = tuple(_match(name, (*self.datasets, *self.also), "dataset") for name in datasets)
        if models:
            names = {_match(name, [row.model for row in self.rows], "model") for name in models}
            rows = tuple(row for row in self.rows if row.model in names)
        return replace(self, dataset=selected, rows=rows, seeds=self.seeds if seeds is None else seeds)

    def protocol_for(self, dataset: type[DatasetSpec] | DatasetSpec, row: ModelEntry) -> Protocol:
        """Return the protocol of the row, else of the study, of the dataset, or of the default paper."""
        name, default = row.protocol or self.protocol or dataset.protocol, f"{DEFAULT_PAPER}/{dataset.name}"
        name = name and name.replace("*", dataset.name)
        if name is None and default not in PROTOCOLS:
            raise GraphTrialError(
                f"{dataset.name} has no default protocol: use --protocol; `graphtrial list protocols` shows all"
            )
        return PROTOCOLS.get(name or default)

    def rules_of(self, row: ModelEntry) -> dict[str, Any]:
        """Return the changes to single rules: those of the study, overridden by those of the row."""
        return {**self.rules, **row.rules}

    def seeds_of(self, protocol: Protocol) -> Sequence[int]:
        """Return the seeds: those of the protocol, then derived ones; some kinds of trials allow no others."""
        if kind_of(protocol.rules).fixed_seeds:
            return protocol.seeds
        if isinstance(self.seeds, tuple):
            return self.seeds
        return protocol.first_seeds(len(protocol.seeds) if self.seeds is None else self.seeds)

    def split_count(self, protocol: Protocol, rules: Rules, dataset: Dataset | None = None) -> int:
        """Return the number of splits to run: all of the protocol and dataset, or the first `splits`."""
        available = kind_of(rules).split_count(dataset)
        most = protocol.splits if available is None else min(protocol.splits, available)
        count = most if self.splits is None else self.splits
        if not 1 <= count <= most:
            raise GraphTrialError(f"{protocol.name} has {most} splits, not {count}")
        return count


def _match(name: str, names: Sequence[str], kind: str) -> str:
    """Return the matching one of `names`: case-insensitive, with or without a suffix after `+`."""
    for other in names:
        if name.lower() in (other.lower(), other.lower().partition("+")[0]):
            return other
    unique = list(dict.fromkeys(names))
    raise UnknownNameError(
        f"the study has no {kind} called '{name}'.{did_you_mean(name.lower(), unique)} It has {', '.join(unique)}."
    )


def parse_encoding(text: str, model: str | None = None) -> Component | None:
    """Parse an encoding such as `laplacian:20` or `rwse:20+laplacian:8`; `none` gives `None`.

    For a model without `randomised_encodings`, the default arguments are those without random signs or order.
    """
    if text == "none":
        return None
    randomised = model is None or getattr(MODELS.get(model), "randomised_encodings", True)
    component = combine(
        [
            Component.parse(part, ENCODINGS.get, lambda kind: {} if randomised else kind.unrandomised)
            for part in checked_parts(text)
        ]
    )
    make_encoding(component)  # validates the arguments
    return component


def choose_settings(
    dataset: str,
    shapes: Callable[[], Shapes],
    row: ModelEntry,
    encoding: Component | None,
    protocol: str | None = None,
) -> dict[str, Any]:
    """Return the settings of a row with a width: explicit, else the widest within the budget, else the published one.

    Without a budget or a published configuration the budget is 100k parameters. `shapes` are needed for a budget only;
    the published configuration is that of the `protocol`, where it has one.
    """
    names = model_settings(row.model)
    if row.budget is not None and "width" not in names:
        raise GraphTrialError(f"model '{row.model}' has no setting `width`, which a budget would determine")
    edition = getattr(MODELS.get(row.model), "as_published", {}) if row.as_published else {}
    if row.released and protocol is not None:
        edition = {**edition, **_released_for(protocol, dataset, row, encoding)}
    if "width" in row.settings or "width" not in names:
        return {**edition, **row.settings}
    if row.budget is None:
        released = released_configuration(
            published_name(dataset),
            row.model,
            encoding=short_encoding(encoding),
            settings=row.settings,
            protocol=protocol,
        )
        if released:  # edge features are a setting of the row where a model was released with and without them
            chosen = released.edge_features is not None
            sizes = {key: value for key, value in released.settings.items() if key != "edge_features" or not chosen}
            return {**edition, **sizes, **implied_settings(row.model, row.settings), **row.settings}
    given = {**edition, **row.settings}
    if row.budget is None and "width" in given:
        return given
    given.pop("width", None)
    return {**given, "width": width_for_budget(row.model, shapes(), given, parse_budget(row.budget or DEFAULT_BUDGET))}


def _released_for(protocol: str, dataset: str, row: ModelEntry, encoding: Component | None) -> dict[str, Any]:
    """Return the settings of the configuration released for a protocol that is nearest to the row, of any depth."""
    any_depth = {key: value for key, value in row.settings.items() if key != "layers"}
    for settings in (row.settings, any_depth):
        released = released_configuration(
            published_name(dataset), row.model, encoding=short_encoding(encoding), settings=settings, protocol=protocol
        )
        if released is not None and released.protocol == protocol.removesuffix(AS_PUBLISHED):
            return {**released.settings, **implied_settings(row.model, any_depth)}
    return {}
