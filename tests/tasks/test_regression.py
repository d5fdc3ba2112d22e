"""Regression with several targets."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphtrial.core.errors import GraphTrialError
from graphtrial.tasks import GraphRegression


def test_per_target_errors_are_extra_metrics() -> None:
    rng = np.random.default_rng(0)
    prediction, target = rng.normal(size=(20, 3)), rng.normal(size=(20, 3))
    task = GraphRegression(targets=3)
    actual = task.extra_scores(torch.tensor(prediction), torch.tensor(target))
    errors = np.abs(prediction - target).mean(axis=0)
    np.testing.assert_allclose(actual["MAE of each target"], errors)
    assert actual["log MAE"] == pytest.approx(np.log(errors).mean())
    assert task.score(torch.tensor(prediction), torch.tensor(target)) == pytest.approx(errors.mean())


def test_standardised_targets_report_original_units() -> None:
    rng = np.random.default_rng(1)
    exact, message = rng.normal(size=(50, 2)) * [3.0, 0.1] + 7, rng.normal(size=(50, 2)) * [3.0, 0.1] + 7
    spread, mean = exact.std(axis=0), exact.mean(axis=0)
    task = GraphRegression(2, std=spread.tolist())
    actual = task.extra_scores(torch.tensor((message - mean) / spread), torch.tensor((exact - mean) / spread))
    np.testing.assert_allclose(actual["MAE of each target in its own unit"], np.abs(message - exact).mean(axis=0))
    with pytest.raises(GraphTrialError, match="2 targets have 2 standard deviations, not 3"):
        GraphRegression(2, std=[1.0, 2.0, 3.0])


def test_single_target_has_no_extra_metrics_and_zero_error_is_finite() -> None:
    assert GraphRegression().extra_scores(torch.zeros(3, 1), torch.ones(3)) == {}
    exact = GraphRegression(targets=2).extra_scores(torch.ones(3, 2), torch.ones(3, 2))
    assert np.isfinite(exact["log MAE"])


@pytest.mark.parametrize(("loss", "power"), [("l1", 1), ("mse", 2)])
def test_missing_labels_are_masked_in_the_loss(loss: str, power: int) -> None:
    rng = np.random.default_rng(2)
    predictions, target = rng.normal(size=(2, 30, 3))
    target[rng.random(target.shape) < 0.4] = np.nan
    task = GraphRegression(3, metric="rmse", loss=loss)
    expected = np.nanmean(np.abs(predictions - target) ** power)
    leaf = torch.tensor(predictions, requires_grad=True)
    actual = task.loss(leaf, torch.tensor(target))
    assert actual.item() == pytest.approx(expected)
    (gradient,) = torch.autograd.grad(actual, leaf)
    assert torch.isfinite(gradient).all()
    assert (gradient.numpy()[np.isnan(target)] == 0).all()
    roots = np.sqrt(np.nanmean((predictions - target) ** 2, axis=0))
    assert task.score(torch.tensor(predictions), torch.tensor(target)) == pytest.approx(roots.mean())
    np.testing.assert_allclose(task.extra_scores(leaf, torch.tensor(target))["RMSE of each target"], roots)


def test_batch_without_labels_has_zero_loss_and_gradient() -> None:
    predictions = torch.randn(4, 2, requires_grad=True)
    loss = GraphRegression(2).loss(predictions, torch.full((4, 2), torch.nan))
    (gradient,) = torch.autograd.grad(loss, predictions)
    assert loss.item() == 0.0
    assert (gradient == 0).all()
