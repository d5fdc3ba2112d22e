from __future__ import annotations

import pytest
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
