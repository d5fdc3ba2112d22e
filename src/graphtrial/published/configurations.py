"""Released configurations: model sizes and training settings that came with the papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from graphtrial.nn import implied_settings, model_settings
from graphtrial.published.data_files import read_lines
from graphtrial.published.printed_results import PrintedNames

DEFAULT_BUDGET = "100k"
AS_PUBLISHED = "-as-published"
"""Ending of an edition of a protocol, whose results compare with the same rows."""


@dataclass(frozen=True)
class Configuration:
    """A released configuration of a registered model.

    `datasets` are names as in `published_as`; `settings` those of the model that are not its defaults; `encoding` as
    typed. `edge_features` is set where the model was released with and without them. `budget` is the class of sizes,
    such as 100k; `params` the exact number of parameters, none with a `reason`. `main`: a published number is that of
    this configuration. `training` has the training settings and seeds, `details` the options of the layers. `shapes`
    are those of `shapes.csv` that the model was released for, `source` is the file of the repository, `protocol` has
    its training rules.
    """

    paper: str
    datasets: Sequence[str]
    model: str
    settings: Mapping[str, Any]
    layers: int
    budget: str
    training: Mapping[str, Any]
    printed: PrintedNames
    params: int | None = None
    edge_features: bool | None = None
    encoding: str = "none"
    main: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)
    shapes: str | None = None
    source: str = ""
    protocol: str | None = None
    reason: str | None = None


@cache
def configurations(paper: str | None = None) -> tuple[Configuration, ...]:
    """Return the released configurations of all papers or of one; repetitions with other seeds are merged."""
    return tuple(
        Configuration(**{**line, "printed": PrintedNames(**line["printed"])})
        for line in read_lines("configurations.jsonl")
        if paper in (None, line["paper"])
    )


def released_configuration(
    dataset: str,
    model: str,
    *,
    encoding: str = "none",
    settings: Mapping[str, Any] | None = None,
    budget: str | None = None,
    protocol: str | None = None,
) -> Configuration | None:
    """Return the released configuration of a model on a dataset, or none where there is none for this budget.

    Those with the training rules of the `protocol`, in either edition, are preferred, then those with the most of the
    `settings`, then the same use of edge features, the same encoding, the configuration of a published number, and the
    same use of encodings. Without a `budget` it is 100k where there is such a configuration, else any, such as 40k on
    OGBL-COLLAB. A number of layers in `settings` must be that of the configuration.
    """
    given = dict(settings or {})
    edge_features, layers = bool(given.get("edge_features")), given.pop("layers", None)

    def distance(config: Configuration) -> tuple[int, bool, bool, bool, bool]:
        defaults = {**model_settings(model), **implied_settings(model, config.settings), **config.settings}
        return (
            sum(key in defaults and defaults[key] != value for key, value in given.items()),
            config.edge_features not in (None, edge_features),
            encoding == "none" or config.encoding != encoding,
            not config.main,
            (config.encoding == "none") != (encoding == "none"),
        )

    candidates = [
        config
        for config in configurations()
        if dataset in config.datasets
        and config.model == model
        and config.params is not None
        and budget in (None, config.budget)
        and layers in (None, config.layers)
    ]
    if protocol is not None:
        rules = protocol.removesuffix(AS_PUBLISHED)
        candidates = [config for config in candidates if config.protocol == rules] or candidates
    default = [config for config in candidates if config.budget == DEFAULT_BUDGET]
    return min(default if default and budget is None else candidates, key=distance, default=None)
