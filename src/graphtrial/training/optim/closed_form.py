"""Schedules whose learning rate is a function of the number of steps."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.training.optim.base import Run, Schedule, Scheduler

if TYPE_CHECKING:
    import torch


class ClosedForm(Schedule):
    """Base class of schedules that multiply the learning rate of the optimizer by a function of the step."""

    reads_value = False

    @abstractmethod
    def factor(self, step: int, run: Run) -> float:
        """Return the factor at a step, counted from 0: epochs, or optimizer steps, by `every`."""

    def check(self, max_epochs: int | None) -> None:
        self.factor(0, Run(1, max_epochs=max_epochs))

    def build(self, optimizer: torch.optim.Optimizer, run: Run) -> Scheduler:
        return _Counter(optimizer, lambda step: self.factor(step, run))

    def max_epochs(self, run: Run) -> int:
        """Return the epoch limit, without which the schedule is not defined."""
        if run.max_epochs is None:
            raise GraphTrialError(f"schedule '{self.name}' runs over all epochs: set stopping.max_epochs")
        return run.max_epochs


class _Counter:
    def __init__(self, optimizer: torch.optim.Optimizer, factor: Callable[[int], float]) -> None:
        self.optimizer = optimizer
        self.factor = factor
        self.base = [float(group["lr"]) for group in optimizer.param_groups]
        self.steps = 0
        self._set()

    def step(self, value: float) -> None:
        self.steps += 1
        self._set()

    def state_dict(self) -> dict[str, Any]:
        return {"steps": self.steps}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.steps = state_dict["steps"]
        self._set()

    def _set(self) -> None:
        factor = self.factor(self.steps)
        for group, base in zip(self.optimizer.param_groups, self.base, strict=True):
            group["lr"] = base * factor
