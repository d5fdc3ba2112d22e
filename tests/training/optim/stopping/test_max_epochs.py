from __future__ import annotations

from graphtrial.training.optim.base import Progress
from graphtrial.training.optim.stopping.max_epochs import MaxEpochs


def test_max_epochs_stops_after_the_last_epoch() -> None:
    assert not MaxEpochs(3).is_met(Progress([1.0] * 2, [0.1] * 2, 0.0, 1e-3))
    assert MaxEpochs(3).is_met(Progress([1.0] * 3, [0.1] * 3, 0.0, 1e-3))
