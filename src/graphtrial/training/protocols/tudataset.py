"""The protocols of "TUDataset: A collection of benchmark datasets for learning with graphs" (arXiv:2007.08663)."""

from __future__ import annotations

from graphtrial.training.protocols.base import PROTOCOLS, Protocol
from graphtrial.training.protocols.svm import SvmRules

PAPER = "Morris et al. 2020, TUDataset (arXiv:2007.08663)"
SEEDED = "Folds and validation parts are drawn by the seed, one per repetition; the released code seeds nothing."
STEPS = "Steps of refinement are chosen from 0 on, as the paper says; the released code begins at 1."

PROTOCOLS.add(
    "tudataset/kernel-svm",
    Protocol(
        name="tudataset/kernel-svm",
        version=1,
        rules=SvmRules(),
        seeds=tuple(range(10)),
        splits=10,
        paper=PAPER,
        notes=(SEEDED, STEPS),
    ),
)
PROTOCOLS.add(
    "tudataset/kernel-linear",
    Protocol(
        name="tudataset/kernel-linear",
        version=1,
        rules=SvmRules(machine="linear"),
        seeds=tuple(range(3)),
        splits=10,
        paper=PAPER,
        notes=(SEEDED, STEPS, "LIBLINEAR on sparse features, for the large sets."),
    ),
)
