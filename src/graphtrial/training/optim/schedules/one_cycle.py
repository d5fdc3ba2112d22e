"""The one-cycle policy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from graphtrial.core.arguments import Fraction, Range
from graphtrial.training.optim.base import SCHEDULES, Run
from graphtrial.training.optim.closed_form import ClosedForm

Divisor = Annotated[float, Range(1)]


@SCHEDULES.register("one-cycle")
@dataclass(frozen=True)
class OneCycle(ClosedForm):
    """One cycle of the learning rate, step by step (Smith and Topin 2018, arXiv:1708.07120).

    Over all optimizer steps of `max_epochs` epochs it rises from `lr / div_factor` to the optimizer's `lr`, for the
    fraction `pct_start` of them, and falls to `lr / div_factor / final_div_factor`: `OneCycleLR` of torch with
    `max_lr=lr` and `cycle_momentum=False`.
    """

    name: ClassVar[str] = "one-cycle"
    every: ClassVar[Literal["epoch", "step"]] = "step"

    pct_start: Fraction = 0.3
    anneal_strategy: Literal["cos", "linear"] = "cos"
    div_factor: Divisor = 25.0
    final_div_factor: Divisor = 1e4

    def factor(self, step: int, run: Run) -> float:
        total = self.max_epochs(run) * run.steps_per_epoch
        start, end = 1 / self.div_factor, 1 / (self.div_factor * self.final_div_factor)
        peak, last = self.pct_start * total - 1, total - 1
        if step <= peak and peak > 0:
            return self._between(start, 1.0, step / peak)
        return self._between(1.0, end, min(1.0, (step - peak) / (last - peak)))

    def _between(self, start: float, end: float, position: float) -> float:
        if self.anneal_strategy == "linear":
            return start + (end - start) * position
        return end + (start - end) / 2 * (1 + math.cos(math.pi * position))
