"""The protocols of GPS, GRIT, Exphormer and GNN+, which share the training loop of GraphGPS.

Numbers from the released configurations and code. The protocols of PATTERN are missing: the released models end in one
logit there, trained by a weighted binary cross-entropy.
"""

from __future__ import annotations

from functools import partial

from graphtrial.training.optim.optimizers.adamw import AdamW
from graphtrial.training.optim.schedules.cosine import Cosine
from graphtrial.training.optim.stopping.max_epochs import MaxEpochs
from graphtrial.training.protocols.base import declare
from graphtrial.training.rules import TrainingRules

BEST_WEIGHTS = (
    "The weights of the epoch with the best validation score are evaluated. The released code rounds it to five "
    "digits, so that it may take an earlier epoch of nearly the same score."
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
    )


_gps = partial(
    declare,
    paper="Rampášek et al. 2022, Recipe for a General, Powerful, Scalable Graph Transformer (arXiv:2205.12454)",
    seeds=tuple(range(10)),
    common_notes=(BEST_WEIGHTS, TF32),
)
_gps("gps/zinc", adamw_on_cosine(32, 2000, 50))
_gps("gps/mnist", adamw_on_cosine(16, 100, 5))
_gps("gps/cifar10", adamw_on_cosine(16, 100, 5))
_gps("gps/cluster", adamw_on_cosine(16, 100, 5, lr=5e-4), "With ESLapPE the released learning rate is 1e-3.")

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

_exphormer = partial(
    declare,
    paper="Shirzad et al. 2023, Exphormer: Sparse Transformers for Graphs (arXiv:2303.06147)",
    seeds=tuple(range(10)),
    common_notes=(BEST_WEIGHTS, TF32, "Seeds are those of GraphGPS; the number of runs is not known."),
)
_exphormer("exphormer/mnist", adamw_on_cosine(16, 150, 5))
_exphormer("exphormer/cifar10", adamw_on_cosine(16, 150, 5))
_exphormer("exphormer/cluster", adamw_on_cosine(16, 150, 5, lr=2e-4))

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
