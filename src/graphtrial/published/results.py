"""The published scores, one `PublishedRow` per printed table row, and the search for the one to compare with."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.published.tables import number, plain, table, whole

Encoding = tuple[str, int | None, str | None]
"""Name, size and rule of an encoding, such as `("laplacian", 20, "random")` or `("node-order", None, "fixed")`."""

ALL_MESSAGE_PASSING = "All-MP-GCNs"
"""What a row is called that is printed once for all message-passing models, on CSL."""
MESSAGE_PASSING = ("gcn", "gcn-vanilla", "gin", "gatedgcn", "graphsage", "gat", "monet")
MAIN_TABLES = {"bgnn-v5": range(3, 13), "bgnn-v1": range(2, 7)}
PE_OF_ENCODING = {
    ("laplacian", "random"): "lap-rand-sign",
    ("laplacian", "fixed"): "lap-fixed-sign",
    ("laplacian", "absolute"): "lap-abs",
    ("node-order", "fixed"): "node-order-fixed",
    ("node-order", "random"): "node-order-random",
}
# Keys of `variant` that a row may have and still be the ordinary model, with the value they must then have.
ORDINARY = {"residual": True, "bn": True, "gn": True, "self_loop": False, "target": "Average"}

BGNN_DATASETS = {"proteins_full": "PROTEINS", "proteins": "another dataset than theirs"}
"""What the benchmark calls its datasets, where that is another name; its PROTEINS has more node features than ours."""
PAPERS_NAMES = {"wl": "WL-1", "graphlet": "GR", "shortest-path": "SP"}
"""What the papers call our kernels, where the name is another."""


@dataclass(frozen=True)
class Score:
    """A printed score: mean and standard deviation over `n` runs, and what else the paper prints.

    `printed` keeps the digits of the paper. `ci95_half_width` is a 95 % bootstrap interval, which Wiki-CS gives instead
    of a deviation; `sd_all_runs` is the second deviation of TUDataset, over all runs instead of over repetitions.
    """

    mean: float
    sd: float | None
    min: float | None
    max: float | None
    n: int | None
    printed: str = ""
    sd_is_upper_bound: bool = False
    sd_all_runs: float | None = None
    ci95_half_width: float | None = None


@dataclass(frozen=True)
class PublishedRow:
    """One row of a published table.

    `variant` holds what makes it differ from the plain model: `E` edge features of the dataset are used; `PE` and
    `pe_dim` the encoding; `train_size`, `target`, `residual` and the like for studies. `status` is `ok`, `diverged`,
    `oom` or `not-used`; without `ok` there is no score. `inferred` says that a label, size or value had to be
    reconstructed, `note` how; cells whose note says DOUBTFUL are not to be relied on. `seed_run` tells the two
    experiments of the TU tables apart.
    """

    paper: str
    table: int
    dataset: str
    model: str
    label: str
    variant: Mapping[str, Any]
    layers: int | None
    params: int | None
    metric: str
    higher_is_better: bool
    test: Score | None
    train: Score | None
    val: Score | None
    epochs: float | None
    epoch_seconds: float | None
    total_hours: float | None
    seed_run: int | None
    status: str
    inferred: bool
    note: str

    @property
    def model_params(self) -> int | None:
        """The printed number of parameters where it is one model's, not a round number for several."""
        return None if self.model == ALL_MESSAGE_PASSING else self.params


def rows(
    paper: str | None = None, table: int | None = None, dataset: str | None = None, model: str | None = None
) -> list[PublishedRow]:
    """Return the published rows, in the order of the papers; each argument narrows them, names in any case."""
    return [
        row
        for row in _all_rows()
        if paper in (None, row.paper)
        and table in (None, row.table)
        and (dataset is None or plain(dataset) == plain(row.dataset))
        and (model is None or plain(model) == plain(row.model))
    ]


def find(
    dataset: str,
    model: str,
    *,
    layers: int | None = None,
    params: int | None = None,
    encoding: Encoding | None = None,
    edge_features: bool = False,
    train_size: int | None = None,
    paper: str = "bgnn-v5",
) -> PublishedRow | None:
    """Return the published row that a trial may be compared with, or nothing.

    Depth (where given), encoding, use of edge features and training size must agree. Of several rows the main tables
    come before the studies, then the nearest number of parameters, then a printed depth. `params` never rules a row
    out. The row for all message-passing models of CSL answers for each of them.
    """
    known = {row.paper for row in _all_rows()}
    if paper not in known:
        raise GraphTrialError(f"no paper called '{paper}'; known papers: {', '.join(sorted(known))}")
    pe, pe_dim = "none", None
    if encoding is not None:
        name, pe_dim, rule = encoding
        pe = PE_OF_ENCODING.get((name, rule or ""), "")
    wanted = {plain(PAPERS_NAMES.get(model, model))}
    if plain(model) in {plain(name) for name in MESSAGE_PASSING}:
        wanted.add(plain(ALL_MESSAGE_PASSING))
    fitting = [
        row
        for row in rows(paper=paper, dataset=BGNN_DATASETS.get(dataset, dataset) if "bgnn" in paper else dataset)
        if plain(row.model) in wanted
        and (layers is None or row.layers in (None, layers))
        and row.variant.get("PE", "none") == pe
        and (pe == "none" or row.variant.get("pe_dim") in (None, pe_dim))
        and row.variant.get("E", False) == edge_features
        and row.variant.get("train_size") == train_size
        and _is_ordinary(row.variant)
    ]
    return min(fitting, key=lambda row: distance(row, params), default=None)


def _is_ordinary(variant: Mapping[str, Any]) -> bool:
    told = ("PE", "pe_dim", "E", "train_size")
    return all(key in told or (key in ORDINARY and value == ORDINARY[key]) for key, value in variant.items())


def distance(row: PublishedRow, params: int | None) -> tuple[bool, float, bool]:
    """Return how far a row is from a model of so many parameters: the smaller, the better it stands for it."""
    main = MAIN_TABLES.get(row.paper)
    away = 0.0
    if params:
        away = abs(math.log(row.params / params)) if row.params else math.inf
    return (main is not None and row.table not in main, away, row.layers is None)


@cache
def _all_rows() -> tuple[PublishedRow, ...]:
    same_row = (
        *("paper", "table", "dataset", "model", "label_in_paper"),
        *("variant", "layers", "params", "metric", "seed_run"),
    )
    printed: dict[tuple[str, ...], dict[str, Mapping[str, str]]] = {}
    for line in table("results"):
        printed.setdefault(tuple(line[key] for key in same_row), {})[line["split"]] = line
    return tuple(_row(splits) for splits in printed.values())


def _row(splits: Mapping[str, Mapping[str, str]]) -> PublishedRow:
    line = splits["test"]
    return PublishedRow(
        paper=line["paper"],
        table=int(line["table"]),
        dataset=line["dataset"],
        model=line["model"],
        label=line["label_in_paper"],
        variant=json.loads(line["variant"]),
        layers=whole(line["layers"]),
        params=whole(line["params"]),
        metric=line["metric"],
        higher_is_better=line["higher_is_better"] == "true",
        test=_score(splits.get("test")),
        train=_score(splits.get("train")),
        val=_score(splits.get("val")),
        epochs=number(line["epochs"]),
        epoch_seconds=number(line["epoch_seconds"]),
        total_hours=number(line["total_hours"]),
        seed_run=whole(line["seed_run"]),
        status=line["status"],
        inferred=line["inferred"] == "true",
        note=line["note"],
    )


def _score(line: Mapping[str, str] | None) -> Score | None:
    if line is None or not line["mean"]:
        return None
    spread = line["sd"] or line["ci95_half_width"]
    bound = "<" if line["sd_is_upper_bound"] == "true" else ""
    return Score(
        mean=float(line["mean"]),
        sd=number(line["sd"]),
        min=number(line["min"]),
        max=number(line["max"]),
        n=whole(line["n_runs"]),
        printed=f"{line['mean']}±{bound}{spread}" if spread else line["mean"],
        sd_is_upper_bound=bool(bound),
        sd_all_runs=number(line["sd_all_runs"]),
        ci95_half_width=number(line["ci95_half_width"]),
    )
