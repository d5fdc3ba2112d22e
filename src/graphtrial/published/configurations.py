"""Released configurations: model sizes and training settings that came with the papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from graphtrial.published.data_files import read_lines
from graphtrial.published.printed_results import PrintedNames

DEFAULT_BUDGET = "100k"


@dataclass(frozen=True)
class Configuration:
    """A released configuration of a registered model.

    `datasets` are names as in `published_as`; `settings` those of the model that are not its defaults; `encoding_dim`
    the size of the encoding, none without one. `budget` is the class of sizes, such as 100k; `params` the exact number
    of parameters. `training` has the training settings and seeds, `details` the options of the layers.
    """

    paper: str
    datasets: Sequence[str]
    model: str
    settings: Mapping[str, Any]
    layers: int
    edge_features: bool
    budget: str
    params: int
    training: Mapping[str, Any]
    details: Mapping[str, Any]
    printed: PrintedNames
    encoding_dim: int | None = None


@cache
def configurations() -> tuple[Configuration, ...]:
    """Return every released configuration, of all variants and budgets; repetitions with other seeds are merged."""
    return tuple(
        Configuration(**{**line, "printed": PrintedNames(**line["printed"])})
        for line in read_lines("configurations.jsonl")
    )


def released_configuration(
    dataset: str,
    model: str,
    *,
    encoding: bool = False,
    edge_features: bool = False,
    budget: str | None = None,
    layers: int | None = None,
) -> Configuration | None:
    """Return the released configuration of a model on a dataset, or none where there is none for this budget.

    The same use of edge features and encoding is preferred, then the nearest. Without a `budget` it is 100k where there
    is such a configuration, else any, such as 40k on OGBL-COLLAB.
    """
    candidates = [
        config
        for config in configurations()
        if dataset in config.datasets
        and config.model == model
        and budget in (None, config.budget)
        and layers in (None, config.layers)
    ]
    default = [config for config in candidates if config.budget == DEFAULT_BUDGET]
    return min(
        default if default and budget is None else candidates,
        key=lambda config: (config.edge_features != edge_features, (config.encoding_dim is not None) != encoding),
        default=None,
    )
