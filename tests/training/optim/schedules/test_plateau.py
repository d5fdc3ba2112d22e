from __future__ import annotations

import numpy as np
import pytest
from tests.training.optim.schedules.course import optimizer, ours
from torch.optim.lr_scheduler import ReduceLROnPlateau

from graphtrial.training.optim.base import Run
from graphtrial.training.optim.schedules.plateau import Plateau

SCORES = np.random.default_rng(0).normal(size=40).cumsum().tolist()


def expected(mode: str) -> list[float]:
    used = optimizer()
    scheduler = ReduceLROnPlateau(used, mode, factor=0.5, patience=2, cooldown=1)  # type: ignore[arg-type]
    rates = [used.param_groups[0]["lr"]]
    for score in SCORES:
        scheduler.step(score)
        rates.append(used.param_groups[0]["lr"])
    return rates


@pytest.mark.parametrize(
    ("rising", "mode", "followed"),
    [(False, "monitor", "min"), (True, "monitor", "max"), (True, "as-published", "min")],
)
def test_plateau_direction_follows_the_monitored_metric_unless_as_published(
    rising: bool, mode: str, followed: str
) -> None:
    schedule = Plateau(factor=0.5, patience=2, cooldown=1, mode=mode)  # type: ignore[arg-type]
    assert ours(schedule, Run(1, rising=rising), SCORES) == expected(followed)
    assert expected("min") != expected("max")
