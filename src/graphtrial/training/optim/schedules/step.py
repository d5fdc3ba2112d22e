"""Step decay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graphtrial.core.arguments import Fraction, PositiveInt
from graphtrial.training.optim.base import SCHEDULES, Run
from graphtrial.training.optim.closed_form import ClosedForm


@SCHEDULES.register("step")
@dataclass(frozen=True)
class Step(ClosedForm):
    """Multiply the learning rate by `gamma` every `step_size` epochs, as `torch.optim.lr_scheduler.StepLR`."""

    name: ClassVar[str] = "step"

    step_size: PositiveInt
    gamma: Fraction = 0.1

    def factor(self, step: int, run: Run) -> float:
        return self.gamma ** (step // self.step_size)
