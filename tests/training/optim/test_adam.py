"""Our Adam against torch's."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

from graphtrial.training.optim.adam import Adam


def stack() -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(7, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 3), nn.Linear(3, 3))


def loss_of(model: nn.Module, step: int) -> torch.Tensor:
    x = torch.randn(20, 7, generator=torch.Generator().manual_seed(step))
    used = model if step % 3 else model[:4]  # now and then a layer has no gradient
    return used(x).square().sum()


@pytest.mark.parametrize("weight_decay", [0.0, 5e-4])
def test_every_step_is_that_of_torch_to_the_bit(weight_decay: float) -> None:
    ours, theirs = stack(), stack()
    mine = Adam(ours.parameters(), lr=0.01, weight_decay=weight_decay)
    other = torch.optim.Adam(theirs.parameters(), lr=0.01, weight_decay=weight_decay, fused=True)
    schedules = [ReduceLROnPlateau(optimiser, patience=2) for optimiser in (mine, other)]
    for step in range(12):
        for model, optimiser, schedule in zip((ours, theirs), (mine, other), schedules, strict=True):
            optimiser.zero_grad()
            loss_of(model, step).backward()
            optimiser.step()
            schedule.step(float(step > 2))
    assert mine.param_groups[0]["lr"] == other.param_groups[0]["lr"] < 0.01
    for one, two in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(one, two)


def test_going_on_from_a_kept_state_gives_the_same_bits() -> None:
    straight, broken = stack(), stack()
    one, two = Adam(straight.parameters(), lr=0.01), Adam(broken.parameters(), lr=0.01)
    for step in range(8):
        if step == 4:
            kept = two.state_dict()
            two = Adam(broken.parameters(), lr=0.5)
            two.load_state_dict(kept)
        for model, optimiser in ((straight, one), (broken, two)):
            optimiser.zero_grad()
            loss_of(model, step).backward()
            optimiser.step()
    assert two.param_groups[0]["lr"] == 0.01
    assert all(torch.equal(a, b) for a, b in zip(straight.parameters(), broken.parameters(), strict=True))


def test_gradients_are_forgotten_or_set_to_zero() -> None:
    model = stack()
    optimiser = Adam(model.parameters(), lr=0.01)
    loss_of(model, 1).backward()
    optimiser.zero_grad(set_to_none=False)
    assert all(not parameter.grad.any() for parameter in model.parameters())
    optimiser.zero_grad()
    assert all(parameter.grad is None for parameter in model.parameters())


@pytest.mark.slow
def test_training_does_not_import_the_compiler() -> None:
    code = """
import sys, torch
from torch.optim.lr_scheduler import ReduceLROnPlateau
from graphtrial.training.optim.adam import Adam
weight = torch.nn.Parameter(torch.ones(3))
optimiser = Adam([weight], lr=0.1)
schedule = ReduceLROnPlateau(optimiser)
optimiser.zero_grad()
weight.sum().backward()
optimiser.step()
schedule.step(1.0)
optimiser.load_state_dict(optimiser.state_dict())
sys.exit("torch._dynamo" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
