"""The protocols of Graphormer, SAN, GT, LSPE, PNA and DGN.

Numbers from the released configurations and code.
"""

from __future__ import annotations

from functools import partial

from graphtrial.training.optim.optimizers.adamw import AdamW
from graphtrial.training.optim.schedules.polynomial import Polynomial
from graphtrial.training.optim.stopping.max_epochs import MaxEpochs
from graphtrial.training.protocols.base import adam_on_plateau, declare
from graphtrial.training.protocols.bgnn_v5 import LAST_WEIGHTS, OVER_EXAMPLES
from graphtrial.training.rules import TrainingRules

declare(
    "graphormer/zinc",
    TrainingRules(
        batch_size=256,
        optimizer=AdamW(lr=2e-4, weight_decay=0.01),
        schedule=Polynomial(total_steps=400_000, warmup_steps=40_000, final_factor=5e-6),
        stopping=(MaxEpochs(10_000),),
        evaluate="best",
    ),
    "Of version 1.0 of the released code, with 40 steps an epoch: 400,000 steps.",
    "The released code trains in half precision and validates every tenth epoch; here every epoch is validated.",
    "The seed is ours; the number of runs is not known.",
    paper="Ying et al. 2021, Do Transformers Really Perform Bad for Graph Representation? (arXiv:2106.05234)",
    seeds=(0,),
)

_san = partial(
    declare,
    paper="Kreuzer et al. 2021, Rethinking Graph Transformers with Spectral Attention (arXiv:2106.03893)",
    seeds=(41, 55, 13, 88),
    common_notes=("The weights of the epoch with the lowest validation loss are evaluated.", OVER_EXAMPLES),
)
_san("san/zinc", adam_on_plateau(32, 7e-4, 25, 1e-6, max_hours=24.0, evaluate="best"))
_san("san/pattern", adam_on_plateau(16, 5e-4, 10, 1e-6, max_hours=24.0, evaluate="best"))
_san("san/cluster", adam_on_plateau(16, 5e-4, 10, 1e-5, max_hours=24.0, evaluate="best"))

_gt = partial(
    declare,
    paper="Dwivedi and Bresson 2021, A Generalization of Transformer Networks to Graphs (arXiv:2012.09699)",
    seeds=(41, 95, 22, 35),
    common_notes=(LAST_WEIGHTS, OVER_EXAMPLES),
)
FULL_GRAPH = "With attention on all pairs the released batch size is 10."
_gt("gt/zinc", adam_on_plateau(128, 7e-4, 15, 1e-6, max_hours=24.0))
_gt("gt/pattern", adam_on_plateau(26, 5e-4, 10, 1e-6, max_hours=24.0), FULL_GRAPH)
_gt("gt/cluster", adam_on_plateau(32, 5e-4, 10, 1e-6, max_hours=24.0), FULL_GRAPH)

declare(
    "lspe/zinc",
    adam_on_plateau(128, 1e-3, 25, 1e-6),
    LAST_WEIGHTS,
    OVER_EXAMPLES,
    paper="Dwivedi et al. 2022, Graph Neural Networks with Learnable Structural and Positional Representations "
    "(arXiv:2110.07875)",
    seeds=(41, 95, 12, 35),
)

_pna = partial(
    declare,
    paper="Corso et al. 2020, Principal Neighbourhood Aggregation for Graph Nets (arXiv:2004.05718)",
    seeds=(41,),
    common_notes=(LAST_WEIGHTS, OVER_EXAMPLES),
)
_pna(
    "pna/zinc",
    adam_on_plateau(128, 1e-3, 20, 1e-5, weight_decay=3e-6, max_hours=48.0),
    "Without edge features the released patience is 5.",
)
_pna("pna/mnist", adam_on_plateau(128, 1e-3, 5, 1e-5, weight_decay=3e-6, max_hours=48.0))
_pna("pna/cifar10", adam_on_plateau(128, 1e-3, 5, 1e-5, weight_decay=3e-6, max_hours=48.0))

_dgn = partial(
    declare,
    paper="Beaini et al. 2021, Directional Graph Networks (arXiv:2010.02863)",
    seeds=(41,),
    common_notes=(LAST_WEIGHTS, OVER_EXAMPLES),
)
SIMPLE = "Weight decay is 1e-8 for the simple variant."
_dgn("dgn/zinc", adam_on_plateau(128, 1e-3, 20, 1e-5, weight_decay=3e-6, max_hours=48.0), SIMPLE)
_dgn("dgn/cifar10", adam_on_plateau(128, 1e-3, 5, 1e-5, weight_decay=3e-6, max_hours=48.0), SIMPLE)
_dgn(
    "dgn/pattern",
    adam_on_plateau(128, 1e-3, 5, 1e-5, weight_decay=1e-8, max_hours=12.0),
    "The published accuracy takes the softmax over the nodes of a batch, so that it cannot be compared.",
)
