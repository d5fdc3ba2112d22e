"""The published results of modern models in our names.

A result is that of a released configuration of the same dataset and exact parameter count, or of the same name in the
repository of the paper that measured it; any other is shown, but no trial compares with it, since its model is not
known exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product
from typing import Any

from tools.normalize_published.modern_configurations import NO_EDGES, dataset_names, modern_configurations
from tools.normalize_published.modern_papers import PAPERS, origin_of, paper_of
from tools.normalize_published.raw import Line, number, read_csv, stated

NAMES = {
    "GPS": "gps",
    "GRIT": "grit",
    "Exphormer": "exphormer",
    "Graphormer": "graphormer",
    "SAN": "san",
    "GT": "gt",
    "PNA": "pna",
    "DGN": "dgn",
    "GatedGCN-LSPE": "gatedgcn-lspe",
    "GCN+": "gcn-plus",
    "GIN+": "gin-plus",
    "GatedGCN+": "gatedgcn-plus",
    "GATv2": "gatv2",
    "SignNet": "signnet",
    "GCN*": "tuned-gnn",
    "GraphSAGE*": "tuned-gnn",
    "GAT*": "tuned-gnn",
    "GCN": "gcn",
    "GIN": "gin",
    "GAT": "gat",
    "GatedGCN": "gatedgcn",
    "GraphSAGE": "graphsage",
    "GraphSage": "graphsage",
    "DiffPool": "diffpool",
}
"""Registered model of a printed one whose size is not known, by the words before a size, variant or encoding."""
VARIANT = re.compile(r"\+(HDSE|SPSE|GPSE|LapPE|RWSE|virtual|VN)|-(HDSE|SPSE|RWSE|E-PE|PE|Slim|small|medium|deep)$")
ERRATA = {
    ("DGN", "PATTERN"): "accuracy with the softmax over the nodes of a batch",
    ("SAN", "ZINC"): "508.6K are those of an ablation; the released configuration has 454,697",
    ("GT (LapPE; results notebook)", "ZINC"): "of layer norm; the paper reports 0.226±0.014 for another run",
    ("GIN+", "ZINC"): "a third party measured 0.0828±0.0194 with the released configuration",
    ("Graphormer-Slim", "ZINC"): "489.3K are without the last layer norm of the released code",
    ("Exphormer", "Peptides-func"): "445,866 are with an older atom encoder",
    ("Exphormer", "Peptides-struct"): "426,427 are with 8 virtual nodes and an older atom encoder",
    ("TIGT", "ZINC"): "a user measured 0.065",
    ("TIGT", "ZINC-full"): "a user measured 0.026",
}
"""What is known to be wrong with the number of a model on a dataset; more in docs/errata.md."""
TUNED = ("GCN*", "GraphSAGE*", "GAT*")
INCOMPARABLE = {
    **dict.fromkeys(
        product(TUNED, ("Cora", "CiteSeer", "PubMed")), "measured on one random split for all runs, not the public one"
    ),
    **dict.fromkeys(
        product(TUNED, ("WikiCS",)), "measured on 3 of the 20 splits, with the early-stopping nodes in validation"
    ),
}
"""Why the number of a model on a dataset gives no verdict although the model is known."""
PINNED = {
    ("GT (LapPE; results notebook)", "ZINC"): "molecules_GraphTransformer_LapPE_ZINC_500k_sparse_graph_LN.json",
    **{("Exphormer", name): f"{name.casefold()}.yaml" for name in ("CIFAR10", "MNIST", "CLUSTER", "PATTERN")},
}
"""The file of the released configuration behind a paper's own number, where several have its count: GT's notebook reads
the results of `ZINC_sparse_LapPE_LN`, the other ones of Exphormer are ablations and Hamiltonian expanders."""
NOT_KNOWN = "no released configuration is known to be that of this number"
SIZES = {"k": 1000, "m": 1_000_000}


def modern_results() -> Iterable[dict[str, Any]]:
    """Yield one line per published result, paper by paper."""
    papers = list(PAPERS)
    for line in sorted(read_csv("raw/modern_results.csv"), key=lambda line: papers.index(paper_of(line))):
        yield _result(line)


def _result(line: Line) -> dict[str, Any]:
    paper, origin, config = paper_of(line), origin_of(line), _configuration(line)
    name = config["model"] if config else registered_name(line["model"])
    settings = config["settings"] if config else {}
    printed = _count(line["params"])
    exact = config["params"] if config else None
    table, _, _ = line["table"].partition(" (")
    return {
        "paper": paper,
        "table": table,
        "label": line["model"],
        "datasets": dataset_names(line["dataset"]),
        "models": [{"name": name, "settings": settings}] if name else [],
        "encoding": config.get("encoding", "none") if config else "none",
        **stated(
            {
                "protocol": config.get("protocol")
                if config and (origin != "own" or config["paper"] == paper)
                else None,
                "origin": None if origin == "own" else origin,
                "layers": config["layers"] if config else None,
                "params": printed,
                "params_exact": exact,
                "erratum": ERRATA.get((line["model"], line["dataset"])),
                "incomparable": INCOMPARABLE.get((line["model"], line["dataset"])),
                "source": config["source"] if config else None,
                "citation": _citation(line),
                "reason": None if config else NOT_KNOWN,
            }
        ),
        "metric": line["metric"],
        "higher_is_better": line["metric"] != "MAE",
        "status": "ok",
        "test": _score(line),
        "printed": {
            "dataset": line["dataset"],
            "model": line["model"],
            "variant": {
                **({"pe": line["pe"]} if line["pe"] else {}),
                **({"E": False} if line["dataset"].endswith(NO_EDGES) else {}),
            },
        },
    }


def registered_name(label: str) -> str | None:
    """Return the registered model of a printed label without its size, variant and encoding; none for any other."""
    base = re.split(r" |,", label)[0]
    return NAMES.get(base) or NAMES.get(VARIANT.sub("", base))


def _configuration(line: Line) -> dict[str, Any] | None:
    """Return the configuration of the same dataset and exact count, or the paper's only one of that name.

    Of several with that count it is the pinned one, which a number of the paper's own must have, else the first.
    """
    counts = {int(text) for text in (line["params_config"], line["params"]) if text.isdigit()}
    released = [c for c in modern_configurations() if c["printed"]["dataset"] == line["dataset"] and "params" in c]
    named = [
        config
        for config in released
        if origin_of(line) == "own"
        and config["paper"] == paper_of(line)
        and config["printed"]["model"].partition(" (tunedGNN)")[0] == line["model"]
    ]
    equal = [config for config in released if config["params"] in counts]
    if not equal:
        return named[0] if len(named) == 1 else None
    own = origin_of(line) == "own"
    pinned = [config for config in equal if own and config["source"].endswith(_pinned(line))]
    if pinned:
        return pinned[0]
    if own and any(_differ(equal[0], other) for other in equal[1:]):
        raise ValueError(f"{line['model']} on {line['dataset']} may be any of {[c['source'] for c in equal]}: pin one")
    return equal[0]


def _pinned(line: Line) -> tuple[str, ...]:
    label, dataset = line["model"], line["dataset"]
    return tuple(f"/{PINNED[key]}" for key in ((label, dataset), (label.partition(" (")[0], dataset)) if key in PINNED)


def _differ(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether trials of two configurations of one size would be other trials."""
    return any(one.get(key) != other.get(key) for key in ("model", "settings", "encoding", "protocol", "training"))


def _count(text: str) -> int | None:
    """Read a printed number of parameters such as 588929, 505.1K, ~500k or about 100K."""
    match = re.fullmatch(r"(?:about |~)?([\d.]+)([km]?)", text.casefold())
    return round(float(match[1]) * SIZES.get(match[2], 1)) if match else None


def _citation(line: Line) -> str:
    """Return where the number was read: behind the semicolon of a leaderboard stands the paper of the entry."""
    _, _, entry = line["paper"].partition("; ")
    return "; ".join(filter(None, [entry, line["source"].replace(", read", "")]))


def _score(line: Line) -> dict[str, Any]:
    runs = line["n_seeds"].removesuffix(" folds")
    return stated(
        {
            "mean": float(line["mean"]),
            "std": number(line["sd"]),
            "n": int(runs) if runs else None,
            "text": f"{line['mean']}±{line['sd']}" if line["sd"] else line["mean"],
        }
    )
