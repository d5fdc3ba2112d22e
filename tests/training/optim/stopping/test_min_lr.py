from __future__ import annotations

from graphtrial.training.optim.base import Progress
from graphtrial.training.optim.stopping.min_lr import MinLR


def test_min_lr_stops_strictly_below_the_limit() -> None:
    assert not MinLR(1e-3).is_met(Progress([1.0], [0.1], 0.0, 1e-3))
    assert MinLR(1e-3).is_met(Progress([1.0], [0.1], 0.0, 0.9e-3))
    assert not MinLR(1e-3).is_met(Progress([1.0], [0.1e-3], 0.0, 0.9e-3))  # still warming up
