"""Cosine annealing with linear warm-up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

from graphtrial.core.arguments import NonNegativeInt, Probability, Range
from graphtrial.core.errors import GraphTrialError
from graphtrial.training.optim.base import SCHEDULES, Run
from graphtrial.training.optim.closed_form import ClosedForm


@SCHEDULES.register("cosine")
@dataclass(frozen=True)
class Cosine(ClosedForm):
    r"""Linear warm-up, then cosine annealing to the end of training (Loshchilov and Hutter 2017, arXiv:1608.03983).

    In the first `warmup_epochs` of T epochs the learning rate rises linearly from `start_factor` to 1 times that of the
    optimizer, as by `torch.optim.lr_scheduler.LinearLR`; then it falls to `final_factor` times it, as by
    `CosineAnnealingLR`:

    .. math:: \eta_t = \eta \big(f + (1 - f) (1 + \cos(\pi (t - W) / (T - W))) / 2\big)

    With `clamp_warmup` the factor of warm-up epoch t is max(start_factor, t / W) instead, as in GraphGPS.
    """

    name: ClassVar[str] = "cosine"

    warmup_epochs: NonNegativeInt = 0
    start_factor: Annotated[float, Range(0, 1, above=True)] = 0.01
    final_factor: Probability = 0.0
    clamp_warmup: bool = False

    def factor(self, step: int, run: Run) -> float:
        annealed = self.max_epochs(run) - self.warmup_epochs
        if annealed < 1:
            raise GraphTrialError(
                f"warmup_epochs of 'cosine' must be below stopping.max_epochs, but {self.warmup_epochs} is not below "
                f"{self.max_epochs(run)}: for a short run add --rule schedule.warmup_epochs=0"
            )
        if step < self.warmup_epochs and self.clamp_warmup:
            return max(self.start_factor, step / self.warmup_epochs)
        if step < self.warmup_epochs:
            return self.start_factor + (1 - self.start_factor) * step / self.warmup_epochs
        position = min(1.0, (step - self.warmup_epochs) / annealed)
        return self.final_factor + (1 - self.final_factor) * (1 + math.cos(math.pi * position)) / 2
