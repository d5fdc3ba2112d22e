"""Rules of trials with a support vector machine: one fold of a graph kernel, or one fit on features alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from graphtrial.core.arguments import LARGEST, Fraction, Length, NonNegativeInt, PositiveFloat, Range, Seed, Steps
from graphtrial.core.rules import Rules

Folds = Annotated[int, Range(2, LARGEST)]
Machine = Literal["svc", "linear"]


@dataclass(frozen=True)
class KernelFoldRules(Rules):
    """The rules of one fold of a cross-validated support vector machine; part of a trial's identity.

    The seed of a trial shuffles the graphs and divides them into `folds`; the trial's split is the test fold. A
    fraction `validation` of the rest, also drawn by the seed, is the validation set, on which the refinement steps
    among `h`, for kernels that have such a setting, and the penalty among `penalties` are selected; ties go to the
    first, in the order of h and then of the penalties. The selected machine is fitted to the training set alone.
    `machine` is the one of LIBSVM on the Gram matrix (`svc`), or LIBLINEAR on the explicit features (`linear`) for sets
    too large for a matrix. With `fold_seed` that seed draws stratified folds, the same for every trial, and the seed of
    a trial the validation set alone. With `refit` the selected machine is fitted to training and validation set.
    """

    kind: ClassVar[str | None] = "kernel-svm"
    description: ClassVar[str] = "the rules of a kernel's trial"

    folds: Folds = 10
    validation: Fraction = 0.1
    h: Annotated[tuple[Steps, ...], Length(1)] = (0, 1, 2, 3, 4, 5)
    penalties: Annotated[tuple[PositiveFloat, ...], Length(1)] = (1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3)
    machine: Machine = "svc"
    fold_seed: Seed | None = None
    refit: bool = False


MACHINE, MACHINE_TITLE = "svm", "SVM"
"""Name of the model in such a trial, and its display name."""


@dataclass(frozen=True)
class FeatureFitRules(Rules):
    """The rules of one support vector machine with a Gaussian kernel on features; part of a trial's identity.

    The kernel is exp(-g |x - y|^2) with g = 1 / (numbers per example x their variance) over the training set. Nodes
    have their features, pairs those of both nodes concatenated. Above `examples` training examples, that many are
    sampled by the seed, half of them links where there are pairs; 0 takes all.
    """

    kind: ClassVar[str | None] = "feature-svm"
    description: ClassVar[str] = "the rules of a support vector machine on features"

    penalty: PositiveFloat = 8.0
    examples: NonNegativeInt = 0

    @property
    def is_deterministic(self) -> bool:
        """The seed decides nothing: no examples are drawn."""
        return self.examples == 0
