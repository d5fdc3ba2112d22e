"""Released configurations: model sizes and training settings that came with the papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from graphtrial.published.data_files import read_lines
from graphtrial.published.printed_results import PrintedNames

DEFAULT_BUDGET = "100k"


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
    edge_features: bool = False,
    budget: str | None = None,
    layers: int | None = None,
) -> Configuration | None:
    """Return the released configuration of a model on a dataset, or none where there is none for this budget.

    The same use of edge features is preferred, then the same encoding, then the configuration of a published number,
    then the same use of encodings. Without a `budget` it is 100k where there is such a configuration, else any, such as
    40k on OGBL-COLLAB.
    """

    def distance(config: Configuration) -> tuple[bool, bool, bool, bool]:
        return (
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
    default = [config for config in candidates if config.budget == DEFAULT_BUDGET]
    return min(default if default and budget is None else candidates, key=distance, default=None)
