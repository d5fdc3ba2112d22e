"""Errors of real-valued predictions against scikit-learn, with and without missing labels."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score, root_mean_squared_error

from graphtrial.core.errors import GraphTrialError
from graphtrial.metrics import make_metric

SCORES = {"mae": mean_absolute_error, "mse": mean_squared_error, "rmse": root_mean_squared_error, "r2": r2_score}


def drawn(examples: int, targets: int, seed: int, missing: float = 0.0) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    predictions, target = rng.normal(size=(2, examples, targets))
    target[rng.random(target.shape) < missing] = np.nan
    return torch.tensor(predictions), torch.tensor(target)


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("examples", [2, 50])
def test_matches_scikit_learn(name: str, targets: int, examples: int) -> None:
    predictions, target = drawn(examples, targets, seed=examples)
    expected = SCORES[name](target.numpy(), predictions.numpy())
    assert make_metric(name).compute(predictions, target) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", SCORES)
def test_missing_labels_are_masked_column_by_column(name: str) -> None:
    predictions, target = drawn(40, 4, seed=1, missing=0.4)
    target[:, 2] = torch.nan  # a target without any label does not count
    columns = [
        SCORES[name](y[mask].numpy(), p[mask].numpy())
        for p, y in zip(predictions.T, target.T, strict=True)
        if (mask := ~y.isnan()).any()
    ]
    assert len(columns) == 3
    assert make_metric(name).compute(predictions, target) == pytest.approx(np.mean(columns), rel=1e-12)


@pytest.mark.parametrize("name", [*SCORES, "log-mae", "log10-mse"])
def test_all_labels_missing_raises(name: str) -> None:
    with pytest.raises(GraphTrialError, match="is undefined: no target column has the labels it needs"):
        make_metric(name).compute(torch.zeros(3, 2), torch.full((3, 2), torch.nan))


def test_log_metrics_match_numpy() -> None:
    predictions, target = drawn(30, 3, seed=2)
    difference = (predictions - target).numpy()
    log_mae = np.log(np.abs(difference).mean(axis=0)).mean()
    assert make_metric("log-mae").compute(predictions, target) == pytest.approx(log_mae)
    assert make_metric("log10-mse").compute(predictions, target) == pytest.approx(np.log10((difference**2).mean()))
    for name in ("log-mae", "log10-mse"):
        assert np.isfinite(make_metric(name).compute(target, target))


@pytest.mark.parametrize("constant", [0.0, 1.0])
def test_r2_of_a_constant_target_matches_scikit_learn(constant: float) -> None:
    target = torch.ones(5, 1, dtype=torch.float64)
    predictions = torch.full((5, 1), constant, dtype=torch.float64)
    assert make_metric("r2").compute(predictions, target) == r2_score(target.numpy(), predictions.numpy())


def test_nan_predictions_are_not_missing_labels() -> None:
    predictions, target = torch.tensor([[torch.nan], [1.0]]), torch.zeros(2, 1)
    assert np.isnan(make_metric("mae").compute(predictions, target))
