"""Metrics of classes against scikit-learn, with absent classes, constant predictions and missing labels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.metrics import make_metric


def expected(name: str, target: np.ndarray, predicted: np.ndarray) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns of classes that are absent
        return {
            "accuracy": lambda: 100 * accuracy_score(target, predicted),
            "balanced-accuracy": lambda: 100 * balanced_accuracy_score(target, predicted),
            "f1-macro": lambda: f1_score(target, predicted, average="macro"),
            "f1-binary": lambda: f1_score(target, predicted, zero_division=1.0),
        }[name]()


def drawn(case: str, classes: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(50, classes, generator=generator)
    target = torch.randint(classes, (50,), generator=generator)
    if case == "absent class":
        target[target == classes - 1] = 0
    if case == "one class":
        target[:] = 0
    if case == "constant predictions":
        logits[:] = torch.arange(float(classes))
    if case == "ties":
        logits = logits.sign()
    return logits, target


CASES = ["random", "absent class", "one class", "constant predictions", "ties"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("name", ["accuracy", "balanced-accuracy", "f1-macro", "f1-binary"])
def test_matches_scikit_learn(name: str, classes: int, case: str, seed: int) -> None:
    if name == "f1-binary" and classes > 2:
        pytest.skip("of two classes")
    logits, target = drawn(case, classes, seed)
    predicted = logits.numpy().argmax(axis=1)
    assert make_metric(name).compute(logits, target) == pytest.approx(expected(name, target.numpy(), predicted))


@pytest.mark.parametrize("name", ["accuracy", "balanced-accuracy", "f1-macro", "f1-binary"])
def test_binary_columns_with_missing_labels(name: str) -> None:
    rng = np.random.default_rng(0)
    logits, target = rng.normal(size=(60, 4)), rng.integers(2, size=(60, 4)).astype(float)
    target[rng.random(target.shape) < 0.3] = np.nan
    target[:, 1] = np.nan
    columns = [
        expected(name, y[mask].astype(int), (z[mask] > 0).astype(int))
        for z, y in zip(logits.T, target.T, strict=True)
        if (mask := ~np.isnan(y)).any()
    ]
    assert make_metric(name).compute(torch.tensor(logits), torch.tensor(target)) == pytest.approx(np.mean(columns))
    with pytest.raises(GraphTrialError, match="is undefined"):
        make_metric(name).compute(torch.zeros(3, 1), torch.full((3, 1), torch.nan))
