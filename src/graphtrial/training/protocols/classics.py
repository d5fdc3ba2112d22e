"""The protocols of PNA, DGN and tuned GNNs.

Numbers from the released configurations and code.
"""

from __future__ import annotations

from functools import partial

from graphtrial.training.optim.optimizers.adam import Adam
from graphtrial.training.optim.stopping.max_epochs import MaxEpochs
from graphtrial.training.protocols.base import adam_on_plateau, declare, declare_editions
from graphtrial.training.protocols.bgnn_v5 import LAST_WEIGHTS
from graphtrial.training.rules import TrainingRules

_pna = partial(
    declare_editions,
    paper="Corso et al. 2020, Principal Neighbourhood Aggregation for Graph Nets (arXiv:2004.05718)",
    seeds=(41,),
    common_notes=(LAST_WEIGHTS,),
)
WITH_EDGES = adam_on_plateau(128, 1e-3, 20, 1e-5, weight_decay=3e-6, max_hours=48.0)
SHORT = WITH_EDGES.changed({"schedule.patience": 5})
_pna("pna/zinc", WITH_EDGES)
_pna("pna/zinc-no-edges", SHORT, "Of the configurations without edge features.")
_pna(
    "pna/zinc-mpnn-no-edges",
    SHORT.changed({"optimizer.weight_decay": 1e-5}),
    "Of the MPNN without edge features.",
)
_pna("pna/mnist", SHORT)
_pna("pna/cifar10", SHORT)

_dgn = partial(
    declare_editions,
    paper="Beaini et al. 2021, Directional Graph Networks (arXiv:2010.02863)",
    seeds=(41,),
    common_notes=(LAST_WEIGHTS,),
)
SIMPLE = "Of the simple variant."
_dgn("dgn/zinc", WITH_EDGES)
_dgn("dgn/zinc-simple", WITH_EDGES.changed({"optimizer.weight_decay": 1e-8}), SIMPLE)
_dgn("dgn/zinc-towers", WITH_EDGES.changed({"optimizer.weight_decay": 3e-7}), "Of the configuration with towers.")
_dgn(
    "dgn/zinc-wide",
    WITH_EDGES.changed({"schedule.patience": 25}),
    "Of the configuration of width 285, which has 4,948,317 parameters.",
)
_dgn("dgn/cifar10", SHORT)
_dgn("dgn/cifar10-simple", SHORT.changed({"optimizer.weight_decay": 1e-8}), SIMPLE)
_dgn(
    "dgn/pattern",
    SHORT.changed({"optimizer.weight_decay": 1e-8, "stopping.max_hours": 12.0}),
    "The published accuracy takes the softmax over the nodes of a batch, so that it cannot be compared.",
    scoring="batches-softmax-rows",
)

_tuned = partial(
    declare,
    paper="Luo et al. 2024, Classic GNNs are Strong Baselines (arXiv:2406.08993)",
    common_notes=("The weights of the epoch with the best validation score are tested.",),
)
ONE_SPLIT = "Seeds and splits are ours: the released runs differ in the initialisation, on one split."


def _constant(lr: float, weight_decay: float, epochs: int) -> TrainingRules:
    return TrainingRules(
        batch_size=1,
        optimizer=Adam(lr=lr, weight_decay=weight_decay),
        stopping=(MaxEpochs(epochs),),
        monitor="val_score",
        evaluate="best",
    )


_tuned(
    "tunedgnn/wikics",
    _constant(1e-3, 0.0, 1000),
    "The released runs are one on each of the first 3 of the 20 splits, validated on the validation and early-stopping "
    "nodes of Wiki-CS.",
    seeds=tuple(range(3)),
    splits=20,
)
_tuned("tunedgnn/cora", _constant(1e-3, 5e-4, 500), ONE_SPLIT, seeds=tuple(range(5)))
_tuned("tunedgnn/citeseer", _constant(1e-3, 0.01, 500), ONE_SPLIT, seeds=tuple(range(5)))
_tuned("tunedgnn/pubmed", _constant(5e-3, 5e-4, 500), ONE_SPLIT, seeds=tuple(range(5)))
_tuned("tunedgnn/pubmed-gat", _constant(0.01, 5e-4, 500), "Of GAT.", ONE_SPLIT, seeds=tuple(range(5)))
