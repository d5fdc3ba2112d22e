from __future__ import annotations

import numpy as np
import pytest
from tests.training.optim.schedules.course import optimizer
from torch.optim.lr_scheduler import ReduceLROnPlateau

from graphtrial.training.optim.base import Progress
from graphtrial.training.optim.stopping.early_stopping import EarlyStopping


def stopped_by_a_cut_rate(losses: list[float], patience: int) -> int | None:
    """The former way: a plateau schedule cuts the rate to nearly nothing, which is below the smallest one."""
    used = optimizer(0.02)
    plateau = ReduceLROnPlateau(used, factor=1e-9, patience=patience - 1, threshold=0.0)
    for epoch, loss in enumerate(losses, start=1):
        plateau.step(loss)
        if used.param_groups[0]["lr"] < 1e-9:
            return epoch
    return None


def stopped_early(losses: list[float], rule: EarlyStopping) -> int | None:
    met = (n for n in range(1, len(losses) + 1) if rule.is_met(Progress(losses[:n], [0.02] * n, 0.0, 0.02)))
    return next(met, None)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("patience", [1, 3, 10])
def test_early_stopping_matches_the_reference(seed: int, patience: int) -> None:
    rng = np.random.default_rng(seed)
    losses = np.round(2 + rng.normal(size=60).cumsum() / 5 - np.arange(60) / 10, 1).tolist()  # with equal ones
    assert stopped_early(losses, EarlyStopping(patience)) == stopped_by_a_cut_rate(losses, patience)


def test_improvement_must_exceed_min_delta() -> None:
    losses = [1.0, 0.95, 0.9, 0.85, 0.7, 0.69, 0.68]
    assert stopped_early(losses, EarlyStopping(3, min_delta=0.2)) == 4
    assert stopped_early(losses, EarlyStopping(3, min_delta=0.1)) is None  # 0.85 and 0.7 count
    assert stopped_early([1.0, 1.0, 1.0], EarlyStopping(2)) == 3
