"""The protocols of "TUDataset: A collection of benchmark datasets for learning with graphs" (arXiv:2007.08663)."""

from __future__ import annotations

from graphtrial.svm.rules import KernelFoldRules
from graphtrial.training.cross_validation import CrossValidation
from graphtrial.training.protocols.base import adam_on_plateau, declare
from graphtrial.training.rules import TrainingRules

PAPER = "Morris et al. 2020, TUDataset (arXiv:2007.08663)"
SEEDED = "Folds and validation sets are drawn by the seed, one per repetition; the released code seeds nothing."
STEPS = "Steps of refinement are chosen from 0 on, as the paper says; the released code begins at 1."

declare("tudataset/kernel-svm", KernelFoldRules(), SEEDED, STEPS, paper=PAPER, seeds=tuple(range(10)), splits=10)
declare(
    "tudataset/kernel-linear",
    KernelFoldRules(machine="linear"),
    SEEDED,
    STEPS,
    "LIBLINEAR on sparse features, for the large sets.",
    paper=PAPER,
    seeds=tuple(range(3)),
    splits=10,
)

SAME_FOLDS = "The folds and validation sets of a seed are those of tudataset/kernel-svm."
GRID = "Of the trials that differ in layers and width alone, the one with the best validation score is selected."
FIRST = "Ties go to the first epoch, and to the smallest model."
NETWORK = adam_on_plateau(
    64, 1e-2, 5, 1e-6, max_epochs=200, monitor="val_score", evaluate="best", cross_validation=CrossValidation()
)

RISING = "The learning rate is halved when the validation accuracy gets no higher."
FALLING = "The learning rate is halved unless the validation accuracy gets lower, as in the released code."


def _add_networks(name: str, rules: TrainingRules, seeds: int, note: str) -> None:
    notes = (SEEDED, SAME_FOLDS, GRID, FIRST, note)
    declare(name, rules, *notes, paper=PAPER, seeds=tuple(range(seeds)), splits=10)


_add_networks("tudataset/gnn", NETWORK, 10, RISING)
_add_networks("tudataset/gnn-as-published", NETWORK.changed({"schedule.mode": "as-published"}), 10, FALLING)
_add_networks("tudataset/gnn-large", NETWORK, 3, RISING)

MOLECULES = adam_on_plateau(64, 1e-3, 5, 1e-6, monitor="val_score", evaluate="best")
TARGETS = "Targets are standardised over all graphs, as in the released code; the paper says over the training set."

AS_IT_IS = "The single target is that of the benchmark, as it is; its error is not divided by its standard deviation."

for _name, _batch, _seeds, _splits, _note in (
    ("tudataset/regression", 64, 1, 5, TARGETS),
    ("tudataset/regression-zinc", 25, 5, 1, AS_IT_IS),
):
    declare(
        _name,
        MOLECULES.changed({"batch_size": _batch}),
        _note,
        "Five runs; the learning rate follows the validation error, and the best epoch is evaluated.",
        paper=PAPER,
        seeds=tuple(range(_seeds)),
        splits=_splits,
    )
