from __future__ import annotations

from tests.training.optim.schedules.course import ours

from graphtrial.training.optim.base import Run
from graphtrial.training.optim.schedules.constant import Constant


def test_learning_rate_never_changes() -> None:
    assert set(ours(Constant(), Run(3), range(7))) == {0.1}
