"""Models, settings and encodings of the rows of "Benchmarking Graph Neural Networks" (arXiv:2003.00982v1, v5)."""

from __future__ import annotations

import json
from typing import Any

from graphtrial.datasets.base import published_name
from graphtrial.nn import implied_settings, model_settings
from tools.normalize_published.configurations import AGGREGATORS, RAW_INPUT, SETTINGS, configuration, configurations
from tools.normalize_published.identity import Identity, own_settings
from tools.normalize_published.raw import PACKAGE, PrintedRow, plain, read_csv

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
ENCODINGS = {
    "lap-rand-sign": "laplacian:{pe_dim}",
    "lap-fixed-sign": "laplacian:{pe_dim},sign=fixed",
    "lap-abs": "laplacian:{pe_dim},sign=absolute",
    "node-order-fixed": "node-order:{nodes}",
    "node-order-random": "node-order:{nodes},order=random",
}
LARGEST_GRAPH = {"CSL": 41, "PATTERN": 204, "CLUSTER": 204, "ZINC": 38}
"""The size of a node-order encoding, which the paper does not print: a number for each node of the largest graph."""
SWITCHES = {"residual": "residual", "gn": "graph_norm", "self_loop": "self_loops"}
"""Our settings for keys of `variant`."""

ALL_MESSAGE_PASSING = "All-MP-GCNs"
"""The model of a row of CSL that is printed once for all message-passing models."""
MESSAGE_PASSING = ("gcn", "gin", "gatedgcn", "graphsage", "gat", "monet")
EDGE_STUDY = {  # of GatedGCN, GAT and GraphSage: isotropic, features of both end nodes, edge states of their own
    (False, False): ("isotropic", "-isotropic"),
    (True, False): ("edgefeat", "-edgefeat"),
    (True, True): ("edgereprfeat", "-edgerepr"),
}
SAME_MODEL = {"gatedgcn-edgerepr": "gatedgcn", "graphsage-isotropic": "graphsage"}
EDGES_UNSAID = (("bgnn-v5", "MNIST", "gatedgcn"), ("bgnn-v5", "CIFAR10", "gatedgcn"))
"""Rows without an -E whose released configurations use the edge features all the same."""
WITHOUT_NORMS = ("mlp", "3wl-gnn", "ringgnn", "matrix-factorisation")
ERRATA = {
    ("bgnn-v1", "CIFAR10", "MLP"): (
        104380,
        "printed wrongly: the number of the MNIST row is repeated; with 5 instead of 3 inputs it is 104380",
    ),
    ("bgnn-v5", "CSL", ALL_MESSAGE_PASSING): (
        None,
        "printed as 100k for all message-passing models together, not as a count",
    ),
}
"""The number of parameters of rows whose printed one is none, and why."""


def identify(row: PrintedRow) -> Identity:
    """Return the datasets, model, settings and encoding of a printed row."""
    datasets, encoding = our_datasets(row), _encoding(row)
    exact, erratum = ERRATA.get((row.paper, row.dataset, row.model), (row.params, None))
    dash = "the paper has a dash here: the combination was not tried" if row.status == "not-used" else None
    if row.model == "kNN-heuristic":
        return Identity(datasets, (("nearest-neighbours", {"k": row.variant["k"]}),), source="the paper's text")
    if row.model == ALL_MESSAGE_PASSING:
        models = tuple((name, _shared_settings(row, name)) for name in MESSAGE_PASSING)
        source = "one number for all message-passing models"
        return Identity(datasets, models, encoding, source, params_exact=exact, erratum=erratum)
    name, settings, source = _settings(row)
    unknown = "neither the paper nor the released configurations give the size of this model"
    models = ((name, own_settings(name, settings)),) if settings else ()
    reason = dash or (None if settings else unknown)
    return Identity(datasets, models, encoding, source, reason, exact, erratum)


def our_datasets(row: PrintedRow) -> tuple[str, ...]:
    """Return our names for the data of a row."""
    size = row.variant.get("train_size")
    if row.dataset == "CYCLES":
        return (f"cycles-{size}",)
    if row.dataset == "GraphTheoryProp":
        return ("graphtheoryprop", "graphtheoryprop-as-published")
    if row.dataset == "PATTERN":  # the two versions drew other graphs
        return ("pattern-v1",) if row.paper == "bgnn-v1" else ("pattern",)
    if row.dataset == "PROTEINS":  # with 29 node features; the PROTEINS of the TU collection has fewer
        return ("proteins_full",)
    shapes = read_csv(PACKAGE / "shapes.csv")
    names = next((line["names"].split() for line in shapes if line["dataset"] == row.dataset), [])
    expected = plain(row.dataset)
    return tuple(name for name in names if plain(published_name(name).removesuffix("-as-published")) == expected)


def _encoding(row: PrintedRow) -> str:
    pe = row.variant.get("PE", "none")
    return "none" if pe == "none" else ENCODINGS[pe].format(nodes=LARGEST_GRAPH.get(row.dataset), **row.variant)


def _shared_settings(row: PrintedRow, name: str) -> dict[str, Any]:
    config = configuration(row.dataset, name, layers=row.layers)
    if config is None:
        raise LookupError(f"no released configuration of {name} on {row.dataset}")
    return own_settings(name, {key: config[key] for key in SETTINGS if key in config})


def _settings(row: PrintedRow) -> tuple[str, dict[str, Any], str]:
    """Return the registered name of a row's model, its settings, and where they come from."""
    if "edge_feat" in row.variant and row.params is None:
        return _edge_study(row)
    without_states = row.model == "GatedGCN" and row.variant.get("edge_repr") is False
    name = "gatedgcn-edgefeat" if without_states else NAMES[row.model]
    settings, source = _sizes(row)
    if not settings:
        return name, {}, ""
    settings |= {
        **({"layers": row.layers} if row.layers else {}),
        **({"width": row.variant["hidden"]} if "hidden" in row.variant else {}),
        **({"gated": True} if row.model == "MLP-Gated" else {}),
        **{ours: row.variant[theirs] for theirs, ours in SWITCHES.items() if theirs in row.variant},
        "edge_features": bool(row.variant.get("E", False)),
    }
    if row.variant.get("bn") is False:
        source += "; the reference makes and counts its batch norms also where they are off"
    settings |= implied_settings(name, settings)
    if name in WITHOUT_NORMS:
        return name, settings, source
    if (row.paper, row.dataset, name) in EDGES_UNSAID:
        settings |= {"edge_features": True}
    if row.paper == "bgnn-v1":  # the first version uses graph norm unless stated otherwise
        settings = {"graph_norm": True, **settings}
    if "bn" in row.variant:
        settings |= {"batch_norm": row.variant["bn"]}
    return name, settings, source


def _edge_study(row: PrintedRow) -> tuple[str, dict[str, Any], str]:
    """Return the model of a row of tables 14 and 15 of the last version, from the configurations of that study."""
    kind, suffix = EDGE_STUDY[row.variant["edge_feat"], row.variant["edge_repr"]]
    base = NAMES[row.model]
    name = SAME_MODEL.get(base + suffix, base + suffix)
    candidates = [
        config
        for config in configurations()
        if (config["dataset"], config["model"], config["budget"]) == (row.dataset, row.model, "")
        and config["details"].get("layer_type") == kind
    ]
    if not candidates:
        return name, {}, ""
    expected = bool(row.variant.get("E"))
    best = next((config for config in candidates if config.get("edge_features", False) == expected), candidates[0])
    settings = {key: best[key] for key in SETTINGS if key in best} | _aggregator(best["details"].get("aggregator"))
    return name, settings | {"edge_features": expected}, "released configuration of the edge study"


def _sizes(row: PrintedRow) -> tuple[dict[str, Any], str]:
    """Return the size of a row's model and its source; nothing where no size is known."""
    return _solved(row) or (_stated(row) if row.paper == "bgnn-v1" else _released(row)) or ({}, "")


def _solved(row: PrintedRow) -> tuple[dict[str, Any], str] | None:
    """Look for a width that no configuration has but the printed number of parameters implies."""
    expected = (row.paper, row.dataset, row.model, str(row.params))
    for line in read_csv("solved_sizes.csv"):
        same = (line["paper"], line["dataset"], line["model"], line["published"]) == expected
        if same and line["table"] in ("", str(row.table)):
            return json.loads(line["settings"]), line["source"]
    return None


def _released(row: PrintedRow) -> tuple[dict[str, Any], str] | None:
    """Look for the released configuration of the last version; normalisation is always on in its main tables."""
    for budget in _budgets(row):
        config = configuration(
            row.dataset,
            row.model,
            encoding="pe_dim" in row.variant,
            edge_features=bool(row.variant.get("E")),
            budget=budget,
            layers=row.layers,
        )
        if config:
            settings = {key: config[key] for key in SETTINGS if key in config}
            return settings | _aggregator(config["details"].get("aggregator")), "released configuration"
    return None


def _budgets(row: PrintedRow) -> tuple[str, ...]:
    """Return which budgets a printed row may have been within, the likeliest first."""
    if row.dataset == "OGBL-COLLAB":
        return ("40k", "")
    if row.params is None:
        return ("100k", "500k", "")
    return ("100k" if row.params < 250_000 else "500k", "")


def _stated(row: PrintedRow) -> tuple[dict[str, Any], str] | None:
    """Look for the sizes that the first version states in its table 16 and beside its studies."""
    for line in read_csv("raw/hyperparameters.csv"):
        if (line["paper"], line["dataset"], line["model"]) != (row.paper, row.dataset, row.model) or not line["hidden"]:
            continue
        heads = int(line["heads"] or 1)
        settings: dict[str, Any] = {"width": int(line["hidden"]) * heads, "layers": int(line["L"])}
        settings |= {"heads": heads} if heads > 1 else {}
        settings |= _aggregator(row.variant.get("aggregator", line["aggregator"]))
        settings |= {"raw_input": row.dataset in RAW_INPUT} if row.model.startswith("MLP") else {}
        return settings, line["source"]
    return None


def _aggregator(printed: str | None) -> dict[str, str]:
    return {"aggregator": AGGREGATORS[printed]} if printed in AGGREGATORS else {}


def registered(config: dict[str, Any]) -> tuple[str, ...]:
    """Return our names for the model of a released configuration."""
    kinds = dict(EDGE_STUDY.values())
    base = {"MF": "matrix-factorisation"}.get(config["model"]) or NAMES[config["model"]]
    kind = config["details"].get("layer_type")
    if kind in kinds and not config["budget"]:
        return (SAME_MODEL.get(base + kinds[kind], base + kinds[kind]),)
    return (base, "gcn-vanilla") if base == "gcn" else (base,)


def known_settings(model: str, config: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a released configuration that a registered model has."""
    settings = {key: config[key] for key in SETTINGS if key in config} | _aggregator(
        config["details"].get("aggregator")
    )
    return {key: value for key, value in settings.items() if key in model_settings(model)}
