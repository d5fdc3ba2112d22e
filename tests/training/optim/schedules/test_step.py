from __future__ import annotations

import pytest
from tests.training.optim.schedules.course import ours, torchs
from torch.optim.lr_scheduler import StepLR

from graphtrial.training.optim.base import Run
from graphtrial.training.optim.schedules.step import Step


def test_learning_rates_match_torch() -> None:
    expected = torchs(lambda optimizer: StepLR(optimizer, step_size=3, gamma=0.3), 10)
    assert ours(Step(step_size=3, gamma=0.3), Run(1), range(10)) == pytest.approx(expected, rel=1e-12)
