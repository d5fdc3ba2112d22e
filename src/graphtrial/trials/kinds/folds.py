"""Folds of a cross-validation whose graphs a trial draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import Dataset
from graphtrial.svm.folds import CrossValidation, Fold, draw_fold, nested_fold

if TYPE_CHECKING:
    from graphtrial.trials.trial import TrialSpec


def graph_classes(dataset: Dataset) -> npt.NDArray[Any]:
    """Return the class of each graph."""
    column = dataset.graphs.columns.get("y")
    if column is None or column.level != "graph" or column.types is None:
        raise GraphTrialError(f"{dataset.name} has no graph classes, which kernels and nested selection need")
    return np.asarray(column.values).reshape(-1)


def fold_of(spec: TrialSpec, dataset: Dataset, rules: CrossValidation) -> Fold:
    """Return the fold of a trial: drawn by its seed, or by the seed of the rules with a validation set by its own."""
    if rules.fold_seed is not None:
        return nested_fold(graph_classes(dataset), rules, fold=spec.split, seed=spec.seed)
    return draw_fold(len(dataset.graphs), rules, fold=spec.split, seed=spec.seed)
