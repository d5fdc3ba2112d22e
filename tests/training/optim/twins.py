"""Two equal models, one trained by our optimizer and one by torch's."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from graphtrial.training.optim import Optimizer


def stack() -> nn.Sequential:
    torch.manual_seed(3)
    # No bias before batch norm: its gradient is rounding alone, which Adam scales up to whole steps.
    return nn.Sequential(nn.Linear(7, 5, bias=False), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 3), nn.Linear(3, 3))


def loss_of(model: nn.Sequential, step: int) -> torch.Tensor:
    x = torch.randn(20, 7, generator=torch.Generator().manual_seed(step))
    used = model if step % 3 else model[:4]  # a layer without a gradient, in the first step too
    return used(x).square().sum()


def steps(model: nn.Sequential, optimizer: torch.optim.Optimizer, numbers: Sequence[int]) -> None:
    for number in numbers:
        optimizer.zero_grad()
        loss_of(model, number).backward()
        optimizer.step()


def assert_equal_bits(one: nn.Module, other: nn.Module) -> None:
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def assert_close(one: nn.Module, other: nn.Module) -> None:
    """Compare to rounding: the last elements of a tensor are rounded like all others, by torch differently."""
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-7)


def resumed(optimizer: Optimizer) -> tuple[nn.Module, nn.Module]:
    """Return a model trained straight, and one trained by an optimizer that was replaced by its saved state."""
    straight, broken = stack(), stack()
    steps(straight, optimizer.build(straight.parameters()), range(8))
    first, second = optimizer.build(broken.parameters()), optimizer.build(broken.parameters())
    steps(broken, first, range(4))
    second.load_state_dict(first.state_dict())
    steps(broken, second, range(4, 8))
    return straight, broken
