"""The protocols of the first version of "Benchmarking Graph Neural Networks" (arXiv:2003.00982v1).

Numbers from its sections 4 and 5 and from its table 16. It does not state batch sizes and seeds; those of the released
code are taken.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from graphtrial.training.protocols.base import adam_on_plateau, declare

PAPER = "Dwivedi et al. 2020, Benchmarking Graph Neural Networks (arXiv:2003.00982v1)"
LAST_WEIGHTS = "The weights of the last epoch are evaluated, as the paper says."
NOT_STATED = "Batch size and seeds are those of the released code; the paper does not state them."
FOUR_SEEDS = (41, 95, 12, 35)


_add = partial(declare, paper=PAPER, seeds=FOUR_SEEDS, common_notes=(LAST_WEIGHTS, NOT_STATED))

USUAL = adam_on_plateau(batch_size=128, lr=1e-3, patience=5, min_lr=1e-5, max_hours=48.0)
for _name in ("zinc", "mnist", "cifar10", "pattern-v1", "cluster"):
    _add(f"bgnn-v1/{_name}", USUAL)

TSP = USUAL.changed({"batch_size": 64, "schedule.patience": 10})
_add("bgnn-v1/tsp", TSP, seeds=(41, 42))
_add(
    "bgnn-v1/tsp-depth",
    TSP.changed({"schedule.patience": 5}),
    "Of the study of depth; the number of runs is not stated.",
    seeds=(41,),
)
_add("bgnn-v1/tsp-edges", TSP, "Of the study of edge representations; the number of runs is not stated.", seeds=(41,))

TU = adam_on_plateau(batch_size=20, lr=1e-3, patience=25, min_lr=1e-6, max_hours=4.8)
RATES: dict[str, dict[str, dict[str, Any]]] = {  # of table 16; 1e-3 where nothing is said
    "enzymes": {
        "gcn-vanilla": {"optimizer.lr": 7e-4},
        "graphsage": {"optimizer.lr": 7e-4},
        "gin": {"optimizer.lr": 7e-3},
        "diffpool": {"optimizer.lr": 7e-3},
        "gatedgcn": {"optimizer.lr": 7e-4},
    },
    "dd": {
        "mlp": {"optimizer.lr": 1e-4},
        "gcn-vanilla": {"optimizer.lr": 1e-5},
        "graphsage": {"optimizer.lr": 1e-5},
        "diffpool": {"optimizer.lr": 5e-4, "batch_size": 10},  # the printed number of parameters implies the batch size
        "gat": {"optimizer.lr": 5e-5},
        "monet": {"optimizer.lr": 7e-5},
        "gatedgcn": {"optimizer.lr": 1e-5},
    },
    "proteins_full": {
        "mlp": {"optimizer.lr": 1e-4},
        "gcn-vanilla": {"optimizer.lr": 7e-4},
        "graphsage": {"optimizer.lr": 7e-5},
        "gin": {"optimizer.lr": 7e-3},
        "monet": {"optimizer.lr": 7e-5},
        "gatedgcn": {"optimizer.lr": 1e-4},
    },
}
for _name, _rates in RATES.items():
    _add(
        f"bgnn-v1/{_name}", TU, "Ten folds; a tenth of 48 hours for each.", seeds=(41, 95), splits=10, exceptions=_rates
    )
