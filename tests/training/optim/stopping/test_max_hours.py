from __future__ import annotations

from graphtrial.training.optim.base import Progress
from graphtrial.training.optim.stopping.max_hours import MaxHours


def test_max_hours_stops_with_status_time() -> None:
    assert not MaxHours(0.5).is_met(Progress([1.0], [0.1], 1800.0, 1e-3))
    assert MaxHours(0.5).is_met(Progress([1.0], [0.1], 1801.0, 1e-3))
    assert MaxHours.status == "time"
