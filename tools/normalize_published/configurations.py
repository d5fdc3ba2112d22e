"""The configurations released with "Benchmarking Graph Neural Networks" in our names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from tools.normalize_published.raw import Line, number, plain, read_csv, stated, truth, whole

SETTINGS = (
    *("width", "layers", "dropout", "residual", "batch_norm", "readout"),
    *("edge_features", "heads", "kernels", "gru", "raw_input", "bias"),
)
"""The settings of a model that a configuration may have."""

# Facts of the released networks that their configurations do not state.
RAW_INPUT = ("MNIST", "CIFAR10", "TSP", "OGBL-COLLAB", "ENZYMES", "DD", "PROTEINS", "PROTEINS_full")
SET2SET = ("GraphTheoryProp",)
GAT_WITH_BIAS = ("AQSOL", "WikiCS")  # trained last, with a version of the library whose attention layer has one
AGGREGATORS = {"meanpool": "mean", "maxpool": "max", "mean": "mean", "max": "max"}
SAME_SIZE = {"gcnvanilla": "gcn", "matrixfactorization": "mf"}
"""There is one released GCN, whose both variants have the same size, and a short name."""
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
    """Return the released configuration of a model on a dataset, in the paper's names, or none.

    The same use of encoding and edge features is preferred, then the nearest. Without a `budget` it is 100k where there
    is such a configuration, else any.
    """
    name = SAME_SIZE.get(plain(model), plain(model))
    candidates = [
        config
        for config in configurations()
        if plain(config["dataset"]) == plain(dataset)
        and plain(config["model"]) == name
        and budget in (None, config["budget"])
        and layers in (None, config["layers"])
    ]
    usual = [config for config in candidates if config["budget"] == USUAL_BUDGET]
    candidates = usual if usual and budget is None else candidates
    return min(candidates, key=lambda config: _mismatch(config, encoding, edge_features), default=None)


def _mismatch(config: Mapping[str, Any], encoding: bool, edge_features: bool) -> tuple[bool, bool, bool]:
    other_edges = config.get("edge_features", False) != edge_features
    return (other_edges, (config["encoding_dim"] is not None) != encoding, "L8" in config["variant"])


@cache
def configurations() -> tuple[dict[str, Any], ...]:
    """Return every released configuration, of all variants and budgets."""
    return tuple(_read(line) for line in read_csv("raw/configs.csv"))


def _read(line: Line) -> dict[str, Any]:
    heads = whole(line["n_heads"])
    settings = {
        "width": int(line["hidden_dim"]) * (heads or 1),
        "layers": int(line["L"]),
        "dropout": number(line["dropout"]),
        "residual": truth(line["residual"]),
        "batch_norm": truth(line["batch_norm"]),
        "readout": "set2set" if line["dataset"] in SET2SET else line["readout"] or None,
        "edge_features": truth(line["edge_feat"]),
        "heads": heads,
        "kernels": whole(line["kernel"]),
        "gru": truth(line["use_gru"]),
        "raw_input": (line["dataset"] in RAW_INPUT) if line["model"] == "MLP" else None,
        "bias": (line["dataset"] in GAT_WITH_BIAS) if line["model"] == "GAT" and not line["layer_type"] else None,
    }
    biases = int(line["L"]) * int(line["hidden_dim"]) * (heads or 1) if settings["bias"] else 0
    details = {
        "pseudo_dim": whole(line["pseudo_dim"]),
        "aggregator": line["aggregator"] or None,
        "layer_norm": truth(line["layer_norm"]),
        "self_loop": truth(line["self_loop"]),
        "gated": truth(line["gated"]),
        "gin_mlp_layers": whole(line["n_mlp_GIN"]),
        "learn_epsilon": truth(line["learn_eps_GIN"]),
        "depth_of_mlp": whole(line["depth_of_mlp"]),
        "radius": whole(line["radius"]),
        "layer_type": line["layer_type"] or None,
        "out_width": whole(line["out_dim"]),
        "train_size": whole(line["num_train_data"]),
    }
    training = {
        "lr": float(line["init_lr"]),
        "lr_factor": float(line["lr_reduce_factor"]),
        "patience": int(line["lr_schedule_patience"]),
        "min_lr": float(line["min_lr"]),
        "weight_decay": float(line["weight_decay"]),
        "batch_size": whole(line["batch_size"]),
        "max_epochs": int(line["epochs"]),
        "max_hours": float(line["max_time"]),
        "seeds": [int(seed) for seed in line["seeds"].split("|")],
    }
    return {
        "dataset": line["dataset"],
        "model": line["model"],
        "variant": line["variant"],
        "budget": line["budget"],
        "encoding_dim": int(line["pos_enc_dim"]) if line["pos_enc"] == "True" else None,
        **stated(settings),
        "params": int(line["params"]) + biases,
        "training": stated(training),
        "details": stated(details),
    }
