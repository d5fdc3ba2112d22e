"""Polynomial decay with linear warm-up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from graphtrial.core.arguments import NonNegativeInt, PositiveFloat, PositiveInt, Range
from graphtrial.core.errors import GraphTrialError
from graphtrial.training.optim.base import SCHEDULES, Run, Scheduler
from graphtrial.training.optim.closed_form import ClosedForm

if TYPE_CHECKING:
    import torch


@SCHEDULES.register("polynomial")
@dataclass(frozen=True)
class Polynomial(ClosedForm):
    r"""Linear warm-up from 0, then polynomial decay, step by step, as Graphormer trains (arXiv:2106.05234).

    In the first `warmup_steps` optimizer steps the learning rate rises linearly from 0 to that of the optimizer; then
    it falls to `final_factor` times it at `total_steps`, where it stays:

    .. math:: \eta_t = \eta \big(f + (1 - f) (1 - (t - W) / (T - W))^p\big)

    as `get_polynomial_decay_schedule_with_warmup` of Hugging Face Transformers does.
    """

    name: ClassVar[str] = "polynomial"
    every: ClassVar[Literal["epoch", "step"]] = "step"

    total_steps: PositiveInt
    warmup_steps: NonNegativeInt = 0
    final_factor: Annotated[float, Range(0, 1)] = 0.0
    power: PositiveFloat = 1.0

    def build(self, optimizer: torch.optim.Optimizer, run: Run) -> Scheduler:
        if run.max_epochs is not None and self.warmup_steps >= (steps := run.max_epochs * run.steps_per_epoch) > 0:
            raise GraphTrialError(
                f"all {steps} steps of {run.max_epochs} epochs would be warm-up, of which 'polynomial' has "
                f"{self.warmup_steps}: for a short run add --rule schedule.warmup_steps=0 and "
                f"--rule schedule.total_steps={steps}"
            )
        return super().build(optimizer, run)

    def factor(self, step: int, run: Run) -> float:
        if self.warmup_steps >= self.total_steps:
            raise GraphTrialError("warmup_steps of 'polynomial' must be below its total_steps")
        if step < self.warmup_steps:
            return step / self.warmup_steps
        if step >= self.total_steps:
            return self.final_factor
        left = 1 - (step - self.warmup_steps) / (self.total_steps - self.warmup_steps)
        return self.final_factor + (1 - self.final_factor) * float(left**self.power)
