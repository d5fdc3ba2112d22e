"""The protocols of "Benchmarking Graph Neural Networks", JMLR version (arXiv:2003.00982v5).

Numbers from its sections 4 and C and from the released configurations; what the paper leaves open follows the released
code.
"""

from __future__ import annotations

from graphtrial.training.protocols.base import PROTOCOLS, Protocol, Rules

PAPER = "Dwivedi et al. 2022, Benchmarking Graph Neural Networks (arXiv:2003.00982v5)"
LAST_WEIGHTS = "The weights of the last epoch are tested, as the released code does."

PROTOCOLS.add(
    "bgnn-v5/zinc",
    Protocol(
        name="bgnn-v5/zinc",
        version=1,
        rules=Rules(batch_size=128, lr=1e-3, patience=10, min_lr=1e-5),
        seeds=(41, 95, 12, 35),
        splits=1,
        paper=PAPER,
        notes=(LAST_WEIGHTS, "MAE is the mean over molecules; the released code averages the means of batches."),
    ),
)

PROTOCOLS.add(
    "bgnn-v5/csl",
    Protocol(
        name="bgnn-v5/csl",
        version=1,
        rules=Rules(batch_size=5, lr=5e-4, patience=5, min_lr=1e-6, max_hours=1.2),
        seeds=(14, 34, 54, 84, 94, 15, 35, 55, 85, 95, 18, 38, 58, 88, 98, 19, 39, 59, 89, 99),
        splits=5,
        paper=PAPER,
        notes=(LAST_WEIGHTS, "The released code allows a tenth of 12 hours for each of the 5 folds."),
    ),
)
