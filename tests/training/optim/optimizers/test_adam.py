"""Adam against torch's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.training.optim.twins import assert_close, assert_equal_bits, loss_of, resumed, stack, steps
from torch.optim.lr_scheduler import ReduceLROnPlateau

from graphtrial.core.errors import GraphTrialError
from graphtrial.training.optim.optimizers.adam import Adam

OPTIONS: list[dict[str, Any]] = [{}, {"weight_decay": 5e-4}, {"betas": (0.8, 0.95), "eps": 1e-6}, {"amsgrad": True}]


@pytest.mark.parametrize("options", OPTIONS)
def test_every_step_matches_torch_to_rounding(options: dict[str, Any]) -> None:
    ours, theirs = stack(), stack()
    mine = Adam(lr=0.01, **options).build(ours.parameters())
    other = torch.optim.Adam(theirs.parameters(), lr=0.01, fused=True, **options)
    schedules = [ReduceLROnPlateau(optimizer, patience=2) for optimizer in (mine, other)]
    for step in range(12):
        for model, optimizer, schedule in zip((ours, theirs), (mine, other), schedules, strict=True):
            steps(model, optimizer, [step])
            schedule.step(float(step > 2))
    assert mine.param_groups[0]["lr"] == other.param_groups[0]["lr"] < 0.01
    assert_close(ours, theirs)


@pytest.mark.parametrize("options", OPTIONS)
def test_resume_is_bit_exact(options: dict[str, Any]) -> None:
    assert_equal_bits(*resumed(Adam(lr=0.01, **options)))


def test_zero_grad_sets_gradients_to_none_or_zero() -> None:
    model = stack()
    optimizer = Adam(lr=0.01).build(model.parameters())
    loss_of(model, 1).backward()
    optimizer.zero_grad(set_to_none=False)
    assert all(not parameter.grad.any() for parameter in model.parameters())
    optimizer.zero_grad()
    assert all(parameter.grad is None for parameter in model.parameters())


@pytest.mark.parametrize("wrong", [{"lr": 0}, {"lr": 1e-3, "betas": (0.9,)}, {"lr": 1e-3, "betas": (0.9, 1.0)}])
def test_arguments_out_of_range_raise(wrong: dict[str, Any]) -> None:
    with pytest.raises(GraphTrialError):
        Adam(**wrong)
