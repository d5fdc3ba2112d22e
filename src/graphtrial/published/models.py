"""The rows of a published table as models that can be built here: which model, which settings, which encoding."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.base import published_name
from graphtrial.nn import model_settings
from graphtrial.published.configs import SETTINGS, configuration, configurations
from graphtrial.published.params import AGGREGATORS, NAMES, settings_of_row
from graphtrial.published.results import (
    ALL_MESSAGE_PASSING,
    BGNN_DATASETS,
    MESSAGE_PASSING,
    PE_OF_ENCODING,
    PublishedRow,
    distance,
    rows,
)
from graphtrial.published.tables import plain, table

EncodingFacts = tuple[str, int | None, str | None]
"""Name, size and rule of an encoding."""
ENCODING_OF_PE = {pe: encoding for encoding, pe in PE_OF_ENCODING.items()}
EDGE_STUDY = {  # of GatedGCN, GAT and GraphSage: nothing of edges, features made of the ends, states of their own
    (False, False): ("isotropic", "-isotropic"),
    (True, False): ("edgefeat", "-edgefeat"),
    (True, True): ("edgereprfeat", "-edgerepr"),
}
SAME_MODEL = {"gatedgcn-edgerepr": "gatedgcn", "graphsage-isotropic": "graphsage"}
SWITCHES = (
    *("layers", "edge_features", "residual", "batch_norm", "layer_norm", "graph_norm", "self_loops"),
    *("gated", "aggregator", "readout", "gru", "k"),
)
"""The settings that make a model another one, where it has them; its width does not."""
EDGES_UNSAID = (("bgnn-v5", "MNIST", "gatedgcn"), ("bgnn-v5", "CIFAR10", "gatedgcn"))
"""Rows without an -E whose released configurations use the edge features all the same."""
WITHOUT_NORMS = ("mlp", "3wl-gnn", "ringgnn", "matrix-factorisation")


@dataclass(frozen=True)
class PublishedModel:
    """What one row of a table was about, in our words.

    `rows` are the printed rows: several where the same models give several numbers, such as one per target or per
    repetition. Without a `model` nothing can be built, and `reason` says why. `encoding` is its name, size and rule.
    `params` is the printed number of parameters.
    """

    rows: tuple[PublishedRow, ...]
    datasets: tuple[str, ...]
    model: str | None
    settings: Mapping[str, Any]
    encoding: EncodingFacts | None
    source: str
    reason: str | None = None

    @property
    def params(self) -> int | None:
        """The printed number of parameters, where it is one model's."""
        return self.rows[0].model_params

    @property
    def words(self) -> str:
        """The row in short, for messages."""
        first = self.rows[0]
        return f"{first.dataset} {first.model} {dict(first.variant)} layers {first.layers} params {first.params}"

    def fits(self, model: str, settings: Mapping[str, Any], encoding: EncodingFacts | None) -> bool:
        """Tell whether a model with these settings, as far as they are given, is the one of this row."""
        if model != self.model or not _same_encoding(encoding, self.encoding):
            return False
        known = {**model_settings(model), **self.settings}
        return all(known.get(key) == value for key, value in settings.items())


def parse_table(text: str) -> tuple[str, int]:
    """Read the name of a published table such as `bgnn-v5/table-3`."""
    found = re.fullmatch(r"([\w-]+)/table-(\d+)", text)
    if not found or not rows(found[1], int(found[2])):
        raise GraphTrialError(f"no published table called '{text}'; write for example bgnn-v5/table-3")
    return found[1], int(found[2])


@cache
def published_models(paper: str, number: int) -> tuple[PublishedModel, ...]:
    """Return what the rows of a table of "Benchmarking Graph Neural Networks" are about, in their order."""
    groups: dict[tuple[Any, ...], list[PublishedRow]] = {}
    for row in rows(paper, number):
        variant = {key: value for key, value in row.variant.items() if key != "target"}
        key = (row.dataset, row.model, repr(sorted(variant.items())), row.layers, row.params)
        groups.setdefault(key, []).append(row)
    return tuple(made for group in groups.values() for made in _models(tuple(group)))


def find_published(
    paper: str,
    dataset: str,
    model: str,
    arguments: Mapping[str, Any],
    encoding: EncodingFacts | None,
    params: int | None = None,
) -> PublishedRow | None:
    """Return the row of "Benchmarking Graph Neural Networks" that a trial may be compared with, or nothing.

    Data, model, encoding and every switch of the row must be the same, depth included; the width need not. Of several
    rows the main tables come before the studies, then the nearest number of parameters, then a printed depth.
    """
    found = [
        made.rows[0]
        for number in table_numbers(paper)
        for made in _fitting(paper, number, dataset, model, arguments, encoding)
    ]
    return min(found, key=lambda row: distance(row, params), default=None)


def find_in_table(
    paper: str,
    number: int,
    dataset: str,
    model: str,
    arguments: Mapping[str, Any],
    encoding: EncodingFacts | None,
    params: int | None = None,
) -> PublishedModel | None:
    """Return what a trial may be compared with in one table, by the rules of `find_published`, or nothing."""
    found = _fitting(paper, number, dataset, model, arguments, encoding)
    return min(found, key=lambda made: distance(made.rows[0], params), default=None)


def table_numbers(paper: str) -> list[int]:
    """Return the numbers of the tables of a paper that hold results."""
    return sorted({row.table for row in rows(paper)})


def _fitting(
    paper: str,
    number: int,
    dataset: str,
    model: str,
    arguments: Mapping[str, Any],
    encoding: EncodingFacts | None,
) -> list[PublishedModel]:
    found = []
    for made in published_models(paper, number):
        if dataset not in made.datasets or made.model != model or not _same_encoding(encoding, made.encoding):
            continue
        known = {**model_settings(model), **made.settings}
        if all(known.get(key) == arguments[key] for key in SWITCHES if key in arguments):
            found.append(made)
    return found


def our_datasets(row: PublishedRow) -> tuple[str, ...]:
    """Return our names for the data of a row."""
    size = row.variant.get("train_size")
    if row.dataset == "CYCLES":
        return (f"cycles-{size}",)
    if row.dataset == "GraphTheoryProp":
        return ("graphtheoryprop", "graphtheoryprop-as-published")
    if row.dataset == "PATTERN":
        return ("pattern-v1",) if row.paper == "bgnn-v1" else ("pattern",)
    names = next((line["names"].split() for line in table("shapes") if line["dataset"] == row.dataset), [])
    return tuple(name for name in names if plain(_papers_name(name)) == plain(row.dataset))


def _papers_name(dataset: str) -> str:
    name = published_name(dataset).removesuffix("-as-published")
    return BGNN_DATASETS.get(name, name)


def _models(group: tuple[PublishedRow, ...]) -> list[PublishedModel]:
    """Return the model of a row, or those of a row that is printed for all message-passing models together."""
    row = group[0]
    if row.model != ALL_MESSAGE_PASSING:
        return [_model(group)]
    found = []
    for name in (name for name in MESSAGE_PASSING if name != "gcn-vanilla"):
        made = configuration(row.dataset, name, layers=row.layers)
        if made:
            known = model_settings(name)
            settings = {key: made[key] for key in SETTINGS if key in made and key in known}
            found.append(PublishedModel(group, our_datasets(row), name, settings, None, "released configuration"))
    return found


def _model(group: tuple[PublishedRow, ...]) -> PublishedModel:
    row = group[0]
    datasets, encoding = our_datasets(row), _encoding(row)

    def cannot(reason: str) -> PublishedModel:
        return PublishedModel(group, datasets, None, {}, encoding, "", reason)

    if row.status == "not-used":
        return cannot("the paper has a dash here: the combination was not tried")
    if row.model == "kNN-heuristic":
        made = {"k": row.variant["k"]}
        return PublishedModel(group, datasets, "nearest-neighbours", made, encoding, "the paper's text")
    name, found, source = _settings(row)
    if not found:
        return cannot("neither the paper nor the released configurations give the size of this model")
    return PublishedModel(group, datasets, name, found, encoding, source)


def _settings(row: PublishedRow) -> tuple[str, dict[str, Any], str]:
    """Return the name of a row's model, its settings, and where they come from."""
    study = _edge_study(row)
    if study is not None:
        return study
    without_states = row.model == "GatedGCN" and row.variant.get("edge_repr") is False
    name = "gatedgcn-edgefeat" if without_states else NAMES[row.model]
    found, source = settings_of_row(row, name)
    if not found:
        return name, {}, source
    known = model_settings(name)
    if name in WITHOUT_NORMS:
        return name, found, source
    if (row.paper, row.dataset, name) in EDGES_UNSAID:
        found = {**found, "edge_features": True}
    if row.paper == "bgnn-v1":  # the first version divides by the root of the number of nodes unless it says otherwise
        found = {"graph_norm": True, **found}
    if "bn" in row.variant:
        found = {**found, "batch_norm": row.variant["bn"]}
    return name, {key: value for key, value in found.items() if key in known}, source


def _edge_study(row: PublishedRow) -> tuple[str, dict[str, Any], str] | None:
    """Return the model of a row of tables 14 and 15 of the last version, from the configurations of that study."""
    if "edge_feat" not in row.variant or row.params is not None:
        return None
    kind, suffix = EDGE_STUDY[row.variant["edge_feat"], row.variant["edge_repr"]]
    base = NAMES[row.model]
    name = SAME_MODEL.get(base + suffix, base + suffix)
    made = [
        made
        for made in configurations(row.dataset, row.model)
        if made["details"].get("layer_type") == kind and made["budget"] == ""
    ]
    if not made:
        return name, {}, ""
    wanted = bool(row.variant.get("E"))
    best = next((one for one in made if one.get("edge_features", False) == wanted), made[0])
    known = model_settings(name)
    found = {key: best[key] for key in SETTINGS if key in best and key in known}
    aggregator = AGGREGATORS.get(best["details"].get("aggregator", ""))
    if aggregator and "aggregator" in known:
        found["aggregator"] = aggregator
    if "edge_features" in known:
        found["edge_features"] = wanted
    return name, found, "released configuration of the edge study"


def _encoding(row: PublishedRow) -> EncodingFacts | None:
    pe = row.variant.get("PE", "none")
    if pe == "none":
        return None
    name, rule = ENCODING_OF_PE[pe]
    return name, row.variant.get("pe_dim"), rule


def _same_encoding(ours: EncodingFacts | None, theirs: EncodingFacts | None) -> bool:
    """Compare encodings; a size that the paper does not print may be any."""
    if ours is None or theirs is None:
        return ours is theirs
    return ours[0] == theirs[0] and ours[2] == theirs[2] and theirs[1] in (None, ours[1])
