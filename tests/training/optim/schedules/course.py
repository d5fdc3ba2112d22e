"""The learning rates of a schedule, ours or torch's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from graphtrial.training.optim import Schedule
from graphtrial.training.optim.base import Run


def optimizer(lr: float = 0.1) -> torch.optim.Optimizer:
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=lr)


def ours(schedule: Schedule, run: Run, values: Sequence[float]) -> list[float]:
    """Return the rate before each value, and after the last."""
    used = optimizer()
    scheduler = schedule.build(used, run)
    rates = [used.param_groups[0]["lr"]]
    for value in values:
        scheduler.step(value)
        rates.append(used.param_groups[0]["lr"])
    return rates


def torchs(build: Callable[[torch.optim.Optimizer], Any], steps: int) -> list[float]:
    """Return the same of a scheduler of torch that takes no values."""
    used = optimizer()
    scheduler = build(used)
    rates = [used.param_groups[0]["lr"]]
    for _ in range(steps):
        used.step()
        scheduler.step()
        rates.append(used.param_groups[0]["lr"])
    return rates
