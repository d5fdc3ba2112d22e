from __future__ import annotations

import pytest
import torch
from tests.training.optim.schedules.course import ours, torchs
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

from graphtrial.core.errors import GraphTrialError
from graphtrial.training.optim.base import Run
from graphtrial.training.optim.schedules.cosine import Cosine


def annealed(optimizer: torch.optim.Optimizer) -> SequentialLR:
    warm_up = LinearLR(optimizer, start_factor=0.01, total_iters=4)
    return SequentialLR(optimizer, [warm_up, CosineAnnealingLR(optimizer, T_max=16, eta_min=0.02)], milestones=[4])


def test_warm_up_and_annealing_match_torch() -> None:
    schedule = Cosine(warmup_epochs=4, start_factor=0.01, final_factor=0.2)
    expected = torchs(annealed, 19)
    assert ours(schedule, Run(7, max_epochs=20), range(19)) == pytest.approx(expected, rel=1e-9)


def test_without_warm_up_it_is_plain_annealing() -> None:
    expected = torchs(lambda optimizer: CosineAnnealingLR(optimizer, T_max=20), 19)
    assert ours(Cosine(), Run(1, max_epochs=20), range(19)) == pytest.approx(expected, rel=1e-9)


def test_max_epochs_is_required_and_must_exceed_the_warm_up() -> None:
    with pytest.raises(GraphTrialError, match=r"set stopping\.max_epochs"):
        Cosine().check(None)
    with pytest.raises(GraphTrialError, match="warmup_epochs of 'cosine' must be below"):
        Cosine(warmup_epochs=5).check(5)


def test_clamped_warm_up_matches_graphgps() -> None:
    rates = ours(Cosine(warmup_epochs=4, start_factor=1e-6, clamp_warmup=True), Run(1, max_epochs=8), range(5))
    expected = [1e-6, 0.25, 0.5, 0.75, 1.0, (1 + 0.5**0.5) / 2]
    assert [rate / rates[4] for rate in rates] == pytest.approx(expected, rel=1e-12)
