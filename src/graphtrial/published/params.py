"""Every number of parameters that both versions of "Benchmarking Graph Neural Networks" print, built again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from graphtrial.nn import MODELS, implied_settings, model_settings, parameter_count
from graphtrial.published.configs import RAW_INPUT, SETTINGS, configuration
from graphtrial.published.results import ALL_MESSAGE_PASSING, PublishedRow, rows
from graphtrial.published.shapes import published_shapes
from graphtrial.published.tables import table

PAPERS = ("bgnn-v5", "bgnn-v1")
NAMES = {
    "MLP": "mlp",
    "MLP-Gated": "mlp",
    "GCN": "gcn",
    "GCN-vanilla": "gcn-vanilla",
    "GraphSage": "graphsage",
    "GAT": "gat",
    "MoNet": "monet",
    "GatedGCN": "gatedgcn",
    "GIN": "gin",
    "RingGNN": "ringgnn",
    "3WLGNN": "3wl-gnn",
    "DiffPool": "diffpool",
    "MatrixFactorization": "matrix-factorisation",
}
SWITCHES = {"residual": "residual", "gn": "graph_norm", "self_loop": "self_loops"}
AGGREGATORS = {"meanpool": "mean", "maxpool": "max", "mean": "mean", "max": "max"}


@dataclass(frozen=True)
class ParamCell:
    """One printed number of parameters beside the number of the model built here.

    `settings` is what was built and `source` where they come from. Where the numbers differ, or nothing could be built,
    `reason` says why.
    """

    paper: str
    table: int
    dataset: str
    model: str
    label: str
    variant: Mapping[str, Any]
    layers: int | None
    published: int
    built: int | None
    match: bool
    settings: Mapping[str, Any]
    source: str
    reason: str | None


def param_cells() -> list[ParamCell]:
    """Return every printed number of parameters, in the order of the papers, with ours."""
    registered = MODELS.names()
    return [_cell(row, registered) for paper in PAPERS for row in rows(paper=paper) if row.params is not None]


def _cell(row: PublishedRow, registered: list[str]) -> ParamCell:
    settings: Mapping[str, Any] = {}
    built, source, reason = None, "", _printed_wrongly(row)
    name = _name(row)
    if name is None:
        source = "one number for all message-passing models"
    elif name not in registered:
        reason = f"model {name} is not registered"
    else:
        settings, source = settings_of_row(row, name)
        if settings:
            built = _count(name, row.dataset, row.variant.get("pe_dim", 0), json.dumps(settings))
        else:
            reason = "neither the paper nor the released configurations give the size of this model"
    match = built == row.params
    return ParamCell(
        row.paper, row.table, row.dataset, row.model, row.label, row.variant, row.layers, row.params or 0,
        built, match, settings, source, None if match else reason or "the counts differ",
    )  # fmt: skip


def _printed_wrongly(row: PublishedRow) -> str | None:
    if row.model == ALL_MESSAGE_PASSING:
        return "printed as 100k for all message-passing models together, not as a count"
    if (row.paper, row.dataset, row.model) == ("bgnn-v1", "CIFAR10", "MLP"):
        return "printed wrongly: the number of the MNIST row is repeated; with 5 instead of 3 inputs it is 104380"
    return None


def _name(row: PublishedRow) -> str | None:
    if row.model == "GatedGCN" and row.variant.get("edge_repr") is False:
        return "gatedgcn-edgefeat"
    return NAMES.get(row.model)


def settings_of_row(row: PublishedRow, name: str) -> tuple[dict[str, Any], str]:
    """Return the settings of a printed row and where they come from; nothing where no size is known."""
    found, source = _solved(row) or (_stated(row) if row.paper == "bgnn-v1" else _released(row)) or ({}, "")
    if not found:
        return {}, ""
    known = model_settings(name)
    chosen = {
        **found,
        **({"layers": row.layers} if row.layers else {}),
        **({"width": row.variant["hidden"]} if "hidden" in row.variant else {}),
        **({"gated": True} if row.model == "MLP-Gated" else {}),
        **{ours: row.variant[theirs] for theirs, ours in SWITCHES.items() if theirs in row.variant},
        "edge_features": bool(row.variant.get("E", False)),
    }
    if row.variant.get("bn") is False:
        source += "; the reference makes and counts its batch norms also where they are off"
    chosen |= implied_settings(name, chosen)
    return {key: value for key, value in chosen.items() if key in known}, source


def _solved(row: PublishedRow) -> tuple[dict[str, Any], str] | None:
    asked = (row.paper, row.dataset, row.model, str(row.params))
    for line in table("solved"):
        fits = (line["paper"], line["dataset"], line["model"], line["published"]) == asked
        if fits and line["table"] in ("", str(row.table)):
            return json.loads(line["settings"]), line["source"]
    return None


def _released(row: PublishedRow) -> tuple[dict[str, Any], str] | None:
    """Look for the released configuration of the last version; normalisation is always on in its main tables."""
    for budget in _budgets(row):
        made = configuration(
            row.dataset,
            {"MatrixFactorization": "MF"}.get(row.model, row.model),
            encoding="pe_dim" in row.variant,
            edge_features=bool(row.variant.get("E")),
            budget=budget,
            layers=row.layers,
        )
        if made:
            aggregator = AGGREGATORS.get(made["details"].get("aggregator", ""))
            found = {key: made[key] for key in SETTINGS if key in made}
            return found | ({"aggregator": aggregator} if aggregator else {}), "released configuration"
    return None


def _budgets(row: PublishedRow) -> tuple[str, ...]:
    """Return which budgets a printed row may have been within, the likeliest first."""
    if row.dataset == "OGBL-COLLAB":
        return ("40k", "")
    if row.params is None:
        return ("100k", "500k", "")
    return ("100k" if row.params < 250_000 else "500k", "")


def _stated(row: PublishedRow) -> tuple[dict[str, Any], str] | None:
    """Look for the sizes that the first version states in its table 16 and beside its studies."""
    for line in table("hyperparameters"):
        if (line["paper"], line["dataset"], line["model"]) != (row.paper, row.dataset, row.model) or not line["hidden"]:
            continue
        heads = int(line["heads"] or 1)
        aggregator = AGGREGATORS.get(row.variant.get("aggregator", line["aggregator"]))
        found: dict[str, Any] = {"width": int(line["hidden"]) * heads, "layers": int(line["L"])}
        if heads > 1:
            found["heads"] = heads
        if aggregator:
            found["aggregator"] = aggregator
        if row.model.startswith("MLP"):
            found["raw_input"] = row.dataset in RAW_INPUT
        return found, line["source"]
    return None


@cache
def _count(name: str, dataset: str, encoding_dim: int, settings: str) -> int:
    shapes = published_shapes(dataset, encoding_dim)
    if shapes is None:
        raise LookupError(f"published/shapes.csv has no line for {dataset}")
    return parameter_count(name, shapes, json.loads(settings))
