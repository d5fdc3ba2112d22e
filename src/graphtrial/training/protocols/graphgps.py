"""The protocols of GPS, GRIT, Exphormer and GNN+, which share the training loop of GraphGPS.

Numbers from the released configurations and code. On PATTERN the released models end in one logit, trained by binary
cross-entropy with the weights of the classes of the batch.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from graphtrial.training.optim.optimizers.adamw import AdamW
from graphtrial.training.optim.schedules.cosine import Cosine
from graphtrial.training.optim.stopping.max_epochs import MaxEpochs
from graphtrial.training.protocols.base import declare
from graphtrial.training.rules import TrainingRules

BEST_WEIGHTS = (
    "The weights of the epoch with the best validation score are evaluated. The released code rounds it to five "
    "digits, so that it may take an earlier epoch of nearly the same score."
)
PLATEAU = (
    "SAN in GraphGPS trains with Adam on a plateau; the released code reduces its learning rate by the validation "
    "loss, here by the monitored score."
)
TF32 = "The released code lets GPUs round the factors of matrix products to TF32."


def adamw_on_cosine(
    batch_size: int,
    max_epochs: int,
    warmup_epochs: int,
    *,
    lr: float = 1e-3,
    weight_decay: float = 1e-5,
    clip_grad_norm: float | None = 1.0,
    single_logit: bool = False,
) -> TrainingRules:
    """Return the rules of GraphGPS: AdamW, cosine annealing after a linear warm-up, the best epoch evaluated."""
    return TrainingRules(
        batch_size=batch_size,
        optimizer=AdamW(lr=lr, weight_decay=weight_decay),
        schedule=Cosine(warmup_epochs=warmup_epochs, start_factor=1e-6, clamp_warmup=True),
        stopping=(MaxEpochs(max_epochs),),
        clip_grad_norm=clip_grad_norm,
        monitor="val_score",
        evaluate="best",
        single_logit=single_logit,
    )


def _san(lr: float, patience: int, min_lr: float, batch_size: int = 16) -> dict[str, dict[str, Any]]:
    """Return the exceptions of SAN in GraphGPS."""
    rules = {"optimizer": f"adam:lr={lr}", "schedule": f"plateau:factor=0.5,patience={patience},min_lr={min_lr}"}
    return {
        "san-gps": {"batch_size": batch_size, "clip_grad_norm": None, "stopping.max_epochs": 1000, **rules},
    }


_gps = partial(
    declare,
    paper="Rampášek et al. 2022, Recipe for a General, Powerful, Scalable Graph Transformer (arXiv:2205.12454)",
    seeds=tuple(range(10)),
    common_notes=(BEST_WEIGHTS, TF32),
)
GRAPHORMER = {
    "graphormer-gps": {
        "batch_size": 256,
        "optimizer.weight_decay": 0.01,
        "schedule": "polynomial:total_steps=200000,warmup_steps=2000,final_factor=1e-7",
        "stopping.max_epochs": 5000,
        "clip_grad_norm": 5.0,
    }
}
_gps(
    "gps/zinc",
    adamw_on_cosine(32, 2000, 50),
    PLATEAU,
    "Graphormer in GraphGPS decays its learning rate linearly over 5000 epochs after 50 of warm-up, epoch by epoch; "
    "here step by step, 40 an epoch.",
    exceptions={**_san(7e-4, 25, 1e-6, 32), **GRAPHORMER},
)
_gps("gps/mnist", adamw_on_cosine(16, 100, 5))
_gps("gps/cifar10", adamw_on_cosine(16, 100, 5))
CLUSTER, PATTERN = adamw_on_cosine(16, 100, 5, lr=5e-4), adamw_on_cosine(32, 100, 5, lr=5e-4, single_logit=True)
_gps("gps/cluster", CLUSTER, PLATEAU, exceptions=_san(5e-4, 10, 1e-5))
_gps("gps/pattern", PATTERN, PLATEAU, exceptions=_san(5e-4, 10, 1e-6))
_gps("gps/cluster-eslappe", CLUSTER.changed({"optimizer.lr": 1e-3}), "Of the configuration with ESLapPE.")
_gps("gps/pattern-eslappe", PATTERN.changed({"optimizer.lr": 1e-3}), "Of the configuration with ESLapPE.")

_grit = partial(
    declare,
    paper="Ma et al. 2023, Graph Inductive Biases in Transformers without Message Passing (arXiv:2305.17589)",
    seeds=tuple(range(4)),
    common_notes=(BEST_WEIGHTS, TF32),
)
_grit("grit/zinc", adamw_on_cosine(32, 2000, 50))
_grit("grit/zinc-full", adamw_on_cosine(256, 2000, 50))
_grit("grit/mnist", adamw_on_cosine(16, 200, 5))
_grit("grit/cifar10", adamw_on_cosine(16, 200, 5))
_grit("grit/cluster", adamw_on_cosine(16, 100, 5))
_grit("grit/pattern", PATTERN)

_exphormer = partial(
    declare,
    paper="Shirzad et al. 2023, Exphormer: Sparse Transformers for Graphs (arXiv:2303.06147)",
    seeds=tuple(range(10)),
    common_notes=(BEST_WEIGHTS, TF32, "Seeds are those of GraphGPS; the number of runs is not known."),
)
_exphormer("exphormer/mnist", adamw_on_cosine(16, 150, 5))
_exphormer("exphormer/cifar10", adamw_on_cosine(16, 150, 5))
_exphormer("exphormer/cluster", adamw_on_cosine(16, 150, 5, lr=2e-4))
_exphormer("exphormer/pattern", adamw_on_cosine(32, 120, 5, lr=2e-4, weight_decay=2e-5, single_logit=True))
ABLATION = "Of the ablations of the paper."
_exphormer("exphormer/mnist-ablation", adamw_on_cosine(16, 100, 5), ABLATION)
_exphormer("exphormer/cifar10-ablation", adamw_on_cosine(16, 100, 5), ABLATION)
_exphormer("exphormer/pattern-ablation", adamw_on_cosine(32, 150, 5, single_logit=True), ABLATION)

_gnnplus = partial(
    declare,
    paper="Luo et al. 2025, Unlocking the Potential of Classic GNNs for Graph-level Tasks (arXiv:2502.09263)",
    seeds=tuple(range(5)),
    common_notes=(BEST_WEIGHTS, TF32),
)
_gnnplus("gnnplus/zinc", adamw_on_cosine(32, 2000, 50))
_gnnplus("gnnplus/mnist", adamw_on_cosine(16, 200, 5), exceptions={"gcn-plus": {"optimizer.lr": 5e-4}})
_gnnplus("gnnplus/cifar10", adamw_on_cosine(16, 200, 5))
_gnnplus("gnnplus/cluster", adamw_on_cosine(16, 100, 5, lr=5e-4), exceptions={"gcn-plus": {"optimizer.lr": 1e-3}})
_gnnplus(
    "gnnplus/pattern",
    adamw_on_cosine(32, 200, 5, single_logit=True),
    exceptions={"gatedgcn-plus": {"optimizer.lr": 5e-4}},
)
