"""What is kept of regressions with several targets."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphtrial.core.errors import GraphTrialError
from graphtrial.tasks import GraphRegression


def test_the_error_of_each_target_and_the_mean_logarithm_are_kept() -> None:
    rng = np.random.default_rng(0)
    prediction, target = rng.normal(size=(20, 3)), rng.normal(size=(20, 3))
    task = GraphRegression(targets=3)
    found = task.further(torch.tensor(prediction), torch.tensor(target))
    errors = np.abs(prediction - target).mean(axis=0)
    np.testing.assert_allclose(found["MAE of each target"], errors)
    assert found["log MAE"] == pytest.approx(np.log(errors).mean())
    assert task.score(torch.tensor(prediction), torch.tensor(target)) == pytest.approx(errors.mean())


def test_errors_of_standardised_targets_are_kept_in_their_own_units_too() -> None:
    rng = np.random.default_rng(1)
    exact, said = rng.normal(size=(50, 2)) * [3.0, 0.1] + 7, rng.normal(size=(50, 2)) * [3.0, 0.1] + 7
    spread, mean = exact.std(axis=0), exact.mean(axis=0)
    task = GraphRegression(2, spread.tolist())
    found = task.further(torch.tensor((said - mean) / spread), torch.tensor((exact - mean) / spread))
    np.testing.assert_allclose(found["MAE of each target in its own unit"], np.abs(said - exact).mean(axis=0))
    with pytest.raises(GraphTrialError, match="2 targets have as many deviations, not 3"):
        GraphRegression(2, [1.0, 2.0, 3.0])


def test_a_single_target_has_nothing_further_and_no_error_has_a_logarithm() -> None:
    assert GraphRegression().further(torch.zeros(3, 1), torch.ones(3)) == {}
    exact = GraphRegression(targets=2).further(torch.ones(3, 2), torch.ones(3, 2))
    assert np.isfinite(exact["log MAE"])
