from __future__ import annotations

import pytest
import torch
from tests.training.optim.schedules.course import ours

from graphtrial.core.errors import GraphTrialError
from graphtrial.training.optim.base import Run
from graphtrial.training.optim.schedules.polynomial import Polynomial


def test_linear_decay_after_warm_up() -> None:
    schedule = Polynomial(total_steps=10, warmup_steps=4, final_factor=0.1)
    decay = [1.0, 0.85, 0.7, 0.55, 0.4, 0.25, 0.1, 0.1]
    rates = ours(schedule, Run(5, max_epochs=3), range(11))
    assert [rate / rates[4] for rate in rates] == pytest.approx([0.0, 0.25, 0.5, 0.75, *decay])


def test_power_shapes_the_decay() -> None:
    rates = ours(Polynomial(total_steps=4, power=2.0), Run(1), range(4))
    assert [rate / rates[0] for rate in rates] == pytest.approx([1.0, 0.5625, 0.25, 0.0625, 0.0])


def test_warm_up_must_end_before_the_decay() -> None:
    with pytest.raises(GraphTrialError, match="warmup_steps of 'polynomial' must be below its total_steps"):
        Polynomial(total_steps=5, warmup_steps=5).check(1)


def test_a_training_within_warmup_is_refused() -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = Polynomial(total_steps=1000, warmup_steps=100)
    with pytest.raises(GraphTrialError, match=r"all 100 steps of 10 epochs would be warm-up.*schedule.warmup_steps=0"):
        schedule.build(optimizer, Run(10, max_epochs=10))
    schedule.build(optimizer, Run(10, max_epochs=11))
    schedule.build(optimizer, Run(10))
