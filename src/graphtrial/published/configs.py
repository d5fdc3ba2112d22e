"""The model sizes and training settings released with the papers, in the words of this package."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from graphtrial.published.tables import number, plain, table, whole

SETTINGS = (
    *("width", "layers", "dropout", "residual", "batch_norm", "readout"),
    *("edge_features", "heads", "kernels", "gru", "raw_input", "bias"),
)
"""The settings of a model that a configuration may have."""

# Facts of the released networks that their configurations do not tell.
RAW_INPUT = ("MNIST", "CIFAR10", "TSP", "OGBL-COLLAB", "ENZYMES", "DD", "PROTEINS", "PROTEINS_full")
SET2SET = ("GraphTheoryProp",)
GAT_WITH_BIAS = ("AQSOL", "WikiCS")  # trained last, with a version of the library whose attention layer has one

# Released configurations know one GCN, whose both flavours have the same size, and short names.
SAME_SIZE = {"gcnvanilla": "gcn", "matrixfactorisation": "mf"}
USUAL_BUDGET = "100k"


def configuration(
    dataset: str,
    model: str,
    *,
    encoding: bool = False,
    edge_features: bool = False,
    budget: str | None = None,
    layers: int | None = None,
) -> dict[str, Any] | None:
    """Return the released configuration of a model on a dataset, or nothing where there is none for this budget.

    The model settings (`SETTINGS`) that apply stand at the top. `width` is the whole width of a layer: for GAT the
    hidden size of one head times `heads`. `params` is the number of parameters this gives, `protocol` the training
    settings, `details` what is fixed in the layers themselves. The row with the same use of encoding and edge features
    is preferred; where there is none the nearest is returned, and its `encoding` (the size, or none) and
    `edge_features` say what it was made for. Without a `budget` it is 100k where there is such a row, else whatever
    there is, such as 40k on OGBL-COLLAB.
    """
    name = SAME_SIZE.get(plain(model), plain(model))
    candidates = [
        made
        for made in _all_configurations()
        if plain(made["dataset"]) == plain(dataset)
        and plain(made["model"]) == name
        and budget in (None, made["budget"])
        and layers in (None, made["layers"])
    ]
    usual = [made for made in candidates if made["budget"] == USUAL_BUDGET]
    candidates = usual if usual and budget is None else candidates
    if not candidates:
        return None
    best = min(candidates, key=lambda made: _mismatch(made, encoding, edge_features))
    alike = [made for made in candidates if _same_setting(made, best)]
    seeds = tuple(dict.fromkeys(seed for made in alike for seed in made["protocol"]["seeds"]))
    details = {key: v for key, v in best["details"].items() if all(made["details"].get(key) == v for made in alike)}
    result = {**best, "protocol": {**best["protocol"], "seeds": seeds}, "details": details}
    del result["variant"]
    return result


def configurations(dataset: str | None = None, model: str | None = None) -> list[dict[str, Any]]:
    """Return every released configuration, of all variants and budgets; each argument narrows them."""
    return [
        {**made, "protocol": dict(made["protocol"]), "details": dict(made["details"])}
        for made in _all_configurations()
        if (dataset is None or plain(dataset) == plain(made["dataset"]))
        and (model is None or plain(model) == plain(made["model"]))
    ]


def _mismatch(made: Mapping[str, Any], encoding: bool, edge_features: bool) -> tuple[bool, bool, bool]:
    other_edges = made.get("edge_features", False) != edge_features
    return (other_edges, (made["encoding"] is not None) != encoding, "L8" in made["variant"])


def _same_setting(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    # The repetitions of an experiment differ in seeds alone, those of CYCLES also in the number of training graphs.
    varying = ("protocol", "details", "variant")
    return all(one.get(key) == other.get(key) for key in {*one, *other} if key not in varying)


@cache
def _all_configurations() -> tuple[dict[str, Any], ...]:
    return tuple(_read(line) for line in table("configs"))


def _read(line: Mapping[str, str]) -> dict[str, Any]:
    heads = whole(line["n_heads"])
    settings = {
        "width": int(line["hidden_dim"]) * (heads or 1),
        "layers": int(line["L"]),
        "dropout": number(line["dropout"]),
        "residual": _truth(line["residual"]),
        "batch_norm": _truth(line["batch_norm"]),
        "readout": "set2set" if line["dataset"] in SET2SET else line["readout"] or None,
        "edge_features": _truth(line["edge_feat"]),
        "heads": heads,
        "kernels": whole(line["kernel"]),
        "gru": _truth(line["use_gru"]),
        "raw_input": (line["dataset"] in RAW_INPUT) if line["model"] == "MLP" else None,
        "bias": (line["dataset"] in GAT_WITH_BIAS) if line["model"] == "GAT" and not line["layer_type"] else None,
    }
    biases = int(line["L"]) * int(line["hidden_dim"]) * (heads or 1) if settings["bias"] else 0
    details = {
        "pseudo_dim": whole(line["pseudo_dim"]),
        "aggregator": line["aggregator"] or None,
        "layer_norm": _truth(line["layer_norm"]),
        "self_loop": _truth(line["self_loop"]),
        "gated": _truth(line["gated"]),
        "gin_mlp_layers": whole(line["n_mlp_GIN"]),
        "learn_epsilon": _truth(line["learn_eps_GIN"]),
        "depth_of_mlp": whole(line["depth_of_mlp"]),
        "radius": whole(line["radius"]),
        "layer_type": line["layer_type"] or None,
        "out_width": whole(line["out_dim"]),
        "train_size": whole(line["num_train_data"]),
    }
    protocol = {
        "lr": float(line["init_lr"]),
        "lr_factor": float(line["lr_reduce_factor"]),
        "patience": int(line["lr_schedule_patience"]),
        "min_lr": float(line["min_lr"]),
        "weight_decay": float(line["weight_decay"]),
        "batch_size": whole(line["batch_size"]),
        "max_epochs": int(line["epochs"]),
        "max_hours": float(line["max_time"]),
        "seeds": tuple(int(seed) for seed in line["seeds"].split("|")),
    }
    return {
        "dataset": line["dataset"],
        "model": line["model"],
        "variant": line["variant"],
        "budget": line["budget"],
        "encoding": int(line["pos_enc_dim"]) if line["pos_enc"] == "True" else None,
        **_stated(settings),
        "params": int(line["params"]) + biases,
        "protocol": _stated(protocol),
        "details": _stated(details),
    }


def _stated(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}


def _truth(text: str) -> bool | None:
    return text == "True" if text else None
