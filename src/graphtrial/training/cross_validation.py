"""Cross-validation as a part of the training rules."""

from __future__ import annotations

from dataclasses import dataclass

from graphtrial.core.arguments import Fraction, Seed
from graphtrial.core.signatures import check_fields
from graphtrial.svm.rules import Folds


@dataclass(frozen=True)
class CrossValidation:
    """Cross-validation whose folds the seed of a trial draws, the same as for kernels.

    The seed shuffles the graphs and divides them into `folds`; the trial's split is the test fold. A fraction
    `validation` of the rest, also drawn by the seed, is the validation set. Of the trials that differ in the settings
    `select` alone, the one with the best validation score is selected for the fold. With `fold_seed` that seed draws
    stratified folds, the same for every trial: the outer folds of a nested selection.
    """

    folds: Folds = 10
    validation: Fraction = 0.1
    select: tuple[str, ...] = ("layers", "width")
    fold_seed: Seed | None = None

    def __post_init__(self) -> None:
        check_fields(self, "the cross-validation")
