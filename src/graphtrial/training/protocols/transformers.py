"""The protocols of Graphormer, SAN, GT, LSPE and SignNet.

Numbers from the released configurations and code.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from graphtrial.training.optim.optimizers.adamw import AdamW
from graphtrial.training.optim.schedules.polynomial import Polynomial
from graphtrial.training.optim.stopping.max_epochs import MaxEpochs
from graphtrial.training.protocols.base import adam_on_plateau, declare, declare_editions
from graphtrial.training.protocols.bgnn_v5 import LAST_WEIGHTS
from graphtrial.training.rules import TrainingRules

GRAPHORMER = TrainingRules(
    batch_size=256,
    optimizer=AdamW(lr=2e-4, weight_decay=0.01),
    schedule=Polynomial(total_steps=400_000, warmup_steps=40_000, final_factor=5e-6),
    stopping=(MaxEpochs(10_000),),
    evaluate="best",
)
_graphormer = partial(
    declare,
    paper="Ying et al. 2021, Do Transformers Really Perform Bad for Graph Representation? (arXiv:2106.05234)",
    seeds=(0,),
    common_notes=(
        "The released code trains in half precision and validates every tenth epoch; here every epoch is validated.",
        "The seed is ours; the number of runs is not known.",
    ),
)
_graphormer(
    "graphormer/zinc", GRAPHORMER, "Of version 1.0 of the released code, with 40 steps an epoch: 400,000 steps."
)
_graphormer(
    "graphormer/zinc-main",
    GRAPHORMER.changed({"batch_size": 64, "schedule.warmup_steps": 60_000, "clip_grad_norm": 5.0}),
    "Of the main branch of the released code.",
)

_san = partial(
    declare_editions,
    paper="Kreuzer et al. 2021, Rethinking Graph Transformers with Spectral Attention (arXiv:2106.03893)",
    seeds=(41, 55, 13, 88),
    common_notes=("The weights of the epoch with the lowest validation loss are evaluated.",),
)
_san("san/zinc", adam_on_plateau(32, 7e-4, 25, 1e-6, max_hours=24.0, evaluate="best"))
_san("san/pattern", adam_on_plateau(16, 5e-4, 10, 1e-6, max_hours=24.0, evaluate="best"))
_san("san/cluster", adam_on_plateau(16, 5e-4, 10, 1e-5, max_hours=24.0, evaluate="best"))
_san(
    "san/zinc-sparse",
    adam_on_plateau(64, 7e-4, 25, 1e-6, max_hours=24.0, evaluate="best"),
    "Of the ablation with attention along edges alone and without positions.",
)

_gt = partial(
    declare_editions,
    paper="Dwivedi and Bresson 2021, A Generalization of Transformer Networks to Graphs (arXiv:2012.09699)",
    seeds=(41, 95, 22, 35),
    common_notes=(LAST_WEIGHTS,),
)
FULL_GRAPH = "Of the configurations with attention on all pairs."
_gt("gt/zinc", adam_on_plateau(128, 7e-4, 15, 1e-6, max_hours=24.0))
_gt("gt/pattern", adam_on_plateau(26, 5e-4, 10, 1e-6, max_hours=24.0))
_gt("gt/cluster", adam_on_plateau(32, 5e-4, 10, 1e-6, max_hours=24.0))
for _name in ("pattern", "cluster"):
    _gt(f"gt/{_name}-full-graph", adam_on_plateau(10, 5e-4, 10, 1e-6, max_hours=24.0), FULL_GRAPH)

PNA = {"optimizer.weight_decay": 3e-6, "stopping.max_hours": 48.0}
_lspe = partial(
    declare_editions,
    paper="Dwivedi et al. 2022, Graph Neural Networks with Learnable Structural and Positional Representations "
    "(arXiv:2110.07875)",
    seeds=(41, 95, 12, 35),
    common_notes=(LAST_WEIGHTS,),
)


def _attention(lr: float) -> dict[str, dict[str, Any]]:
    """Return the exceptions of SAN and GraphiT."""
    rules = {"batch_size": 32, "optimizer.lr": lr, "stopping.max_hours": 48.0}
    return {"san-lspe": rules, "graphit-lspe": rules}


LSPE = adam_on_plateau(128, 1e-3, 25, 1e-6)
_lspe("lspe/zinc", LSPE, exceptions={"pna-lspe": PNA, **_attention(7e-4)})
_lspe(
    "lspe/zinc-no-positions",
    LSPE,
    "Of the configurations without positions.",
    exceptions={"pna": PNA, **_attention(3e-4)},
)

_signnet = partial(
    declare_editions,
    paper="Lim et al. 2023, Sign and Basis Invariant Networks for Spectral Graph Representation Learning "
    "(arXiv:2202.13013)",
    seeds=(41, 95, 12, 35),
    common_notes=(LAST_WEIGHTS, "Seeds are those of LSPE, whose training code is used."),
)
_signnet("signnet/zinc", LSPE)
_signnet("signnet/zinc-pna", LSPE.changed(PNA), "Of the configurations with PNA.")
