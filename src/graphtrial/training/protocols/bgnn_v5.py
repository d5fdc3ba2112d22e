"""The protocols of "Benchmarking Graph Neural Networks", JMLR version (arXiv:2003.00982v5).

Numbers from its sections 4 and C and from the released configurations; what the paper leaves open follows the released
code.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from graphtrial.training.protocols.base import OVER_EXAMPLES, adam_on_plateau, declare

PAPER = "Dwivedi et al. 2022, Benchmarking Graph Neural Networks (arXiv:2003.00982v5)"
LAST_WEIGHTS = "The weights of the last epoch are evaluated, as the released code does."
WL_GRADIENT = (
    "Weisfeiler-Leman networks sum the gradients of 4 graphs between steps (of one graph before the first step, and "
    "what remains at the end of an epoch is dropped), as the released code does."
)
FOUR_SEEDS = (41, 95, 12, 35)
WL_NETS = ("3wl-gnn", "ringgnn")


PATIENCE_5: dict[str, Any] = {"schedule.patience": 5}


def _wl(rules: Mapping[str, Any] | None = None) -> dict[str, dict[str, Any]]:
    """Return the exceptions of both Weisfeiler-Leman networks."""
    return {model: {"batch_size": 4, "accumulation": "as-published", **(rules or {})} for model in WL_NETS}


_add = partial(declare, paper=PAPER, seeds=FOUR_SEEDS, common_notes=(LAST_WEIGHTS,))

MOLECULES = adam_on_plateau(batch_size=128, lr=1e-3, patience=10, min_lr=1e-5)
WL_ON_MOLECULES = {**_wl(PATIENCE_5), "3wl-gnn/8": {"optimizer.lr": 1e-4}, "ringgnn/8": {"optimizer.lr": 1e-5}}
for _name in ("zinc", "zinc-full", "aqsol"):
    _add(
        f"bgnn-v5/{_name}",
        MOLECULES,
        "MAE is the mean over molecules; the released code averages the means of batches.",
        WL_GRADIENT,
        exceptions=WL_ON_MOLECULES,
    )

for _name in ("mnist", "cifar10"):
    _add(
        f"bgnn-v5/{_name}",
        adam_on_plateau(batch_size=128, lr=1e-3, patience=10, min_lr=1e-5),
        WL_GRADIENT,
        exceptions=_wl(PATIENCE_5)
        | {"ringgnn": _wl(PATIENCE_5 | {"optimizer.lr": 1e-4, "stopping.min_lr": 1e-6})["ringgnn"]},
    )

for _name in ("pattern", "cluster"):
    _add(
        f"bgnn-v5/{_name}",
        adam_on_plateau(batch_size=128, lr=1e-3, patience=5, min_lr=1e-5),
        OVER_EXAMPLES,
        WL_GRADIENT,
        "The loss is weighted by the class sizes of the batch in training, of the whole split in validation.",
        exceptions={
            **_wl(),
            **{f"{model}/8": {"optimizer.lr": 1e-5} for model in WL_NETS},
            "gcn/16": {"batch_size": 64},
            "gcn-vanilla/16": {"batch_size": 64},
            "graphsage/16": {"batch_size": 64},
            "gatedgcn/16": {"batch_size": 32},
        },
    )

_add(
    "bgnn-v5/tsp",
    adam_on_plateau(batch_size=64, lr=1e-3, patience=10, min_lr=1e-5, max_epochs=500),
    OVER_EXAMPLES,
    WL_GRADIENT,
    seeds=(41, 42, 9, 23),
    exceptions=_wl(),
)

_add(
    "bgnn-v5/ogbl-collab",
    adam_on_plateau(batch_size=32768, lr=1e-3, patience=10, min_lr=1e-5, max_epochs=500, monitor="val_score"),
    "The learning rate follows the validation score. Each batch of links is trained with as many random pairs.",
    seeds=(41, 42, 9, 23),
    exceptions={"matrix-factorisation": {"optimizer.lr": 1e-2}},
)

_add(
    "bgnn-v5/ogbl-collab-edges",
    adam_on_plateau(
        batch_size=32768, lr=1e-3, patience=10, min_lr=1e-5, max_epochs=500, max_hours=24.0, monitor="val_score"
    ),
    "Of the study of edge representations: bgnn-v5/ogbl-collab with other seeds and twice the time.",
    seeds=(411, 421, 91, 231),
)

_add(
    "bgnn-v5/wikics",
    adam_on_plateau(batch_size=1, lr=1e-2, patience=25, min_lr=1e-5, weight_decay=5e-4, max_hours=1.2),
    "The released code allows a twentieth of 24 hours for each of the 20 splits, and uses dropout of 0.35 here alone.",
    splits=20,
)

_add(
    "bgnn-v5/csl",
    adam_on_plateau(batch_size=5, lr=5e-4, patience=5, min_lr=1e-6, max_hours=1.2),
    "The released code allows a tenth of 12 hours for each of the 5 folds.",
    seeds=(14, 34, 54, 84, 94, 15, 35, 55, 85, 95, 18, 38, 58, 88, 98, 19, 39, 59, 89, 99),
    splits=5,
    exceptions={model: {"accumulation": "as-published"} for model in WL_NETS},
)

_add("bgnn-v5/cycles", adam_on_plateau(batch_size=25, lr=1e-4, patience=10, min_lr=1e-6))

_add(
    "bgnn-v5/graphtheoryprop",
    adam_on_plateau(batch_size=25, lr=1e-3, patience=15, min_lr=1e-6),
    "The loss is the mean of the six mean squared errors; the released code weighs nodes by the size of their graph.",
)

TU = adam_on_plateau(batch_size=20, lr=1e-3, patience=25, min_lr=1e-6, max_hours=1.2)


def _add_tu(name: str, exceptions: Mapping[str, Mapping[str, Any]] | None = None) -> None:
    special = {**_wl(), **{model: {**_wl().get(model, {}), **rules} for model, rules in (exceptions or {}).items()}}
    note = "The released code allows a tenth of 12 hours for each of the 10 folds."
    _add(f"bgnn-v5/{name}", TU, note, WL_GRADIENT, seeds=(41, 95), splits=10, exceptions=special)


_add_tu("tu")
_add_tu(
    "enzymes",
    {
        "gatedgcn": {"optimizer.lr": 7e-4},
        "gcn": {"optimizer.lr": 7e-4},
        "graphsage": {"optimizer.lr": 7e-4},
        "gin": {"optimizer.lr": 7e-3},
        "ringgnn": {"optimizer.lr": 1e-4},
    },
)
_add_tu(
    "dd",
    {
        "mlp": {"optimizer.lr": 1e-4},
        "gcn": {"optimizer.lr": 7e-4},
        "gatedgcn": {"optimizer.lr": 1e-5},
        "monet": {"optimizer.lr": 1e-5},
        "gat": {"optimizer.lr": 5e-5},
        "3wl-gnn": {"optimizer.lr": 1e-4},
        "ringgnn": {"optimizer.lr": 1e-4},
    },
)
_add_tu(
    "proteins",
    {
        "gatedgcn": {"optimizer.lr": 1e-4},
        "mlp": {"optimizer.lr": 1e-4},
        "gin": {"optimizer.lr": 1e-4},
        "gcn": {"optimizer.lr": 7e-4},
        "graphsage": {"optimizer.lr": 7e-5},
        "monet": {"optimizer.lr": 7e-5},
        "ringgnn": {"optimizer.lr": 7e-5},
        "3wl-gnn": {"stopping.min_lr": 1e-5},
    },
)
