from __future__ import annotations

from typing import Any

import pytest
from tests.training.optim.schedules.course import ours, torchs
from torch.optim.lr_scheduler import OneCycleLR

from graphtrial.training.optim.base import Run
from graphtrial.training.optim.schedules.one_cycle import OneCycle


@pytest.mark.parametrize(
    "options", [{}, {"pct_start": 0.5, "anneal_strategy": "linear", "div_factor": 10.0, "final_div_factor": 50.0}]
)
def test_learning_rates_match_torch(options: dict[str, Any]) -> None:
    epochs, steps = 5, 7
    expected = torchs(
        lambda optimizer: OneCycleLR(
            optimizer, max_lr=0.1, total_steps=epochs * steps, cycle_momentum=False, **options
        ),
        epochs * steps - 1,
    )
    actual = ours(OneCycle(**options), Run(steps, max_epochs=epochs), range(epochs * steps - 1))
    assert actual == pytest.approx(expected, rel=1e-9)
    assert OneCycle.every == "step"
