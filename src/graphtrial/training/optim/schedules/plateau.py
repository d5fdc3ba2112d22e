"""Reduce the learning rate on a plateau."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from graphtrial.core.arguments import Fraction, NonNegativeFloat, NonNegativeInt
from graphtrial.training.optim.base import SCHEDULES, Run, Schedule, Scheduler

if TYPE_CHECKING:
    import torch


@SCHEDULES.register("plateau")
@dataclass(frozen=True)
class Plateau(Schedule):
    """`torch.optim.lr_scheduler.ReduceLROnPlateau` on the quantity that `monitor` names.

    The learning rate is multiplied by `factor` when that quantity has not improved by `threshold` for more than
    `patience` epochs. With `mode` monitor, whether lower or higher is better follows from the quantity; with
    as-published lower always is, also of an accuracy: the fault of the released code of TUDataset (docs/errata.md).
    """

    name: ClassVar[str] = "plateau"

    factor: Fraction
    patience: NonNegativeInt
    threshold: NonNegativeFloat = 1e-4
    threshold_mode: Literal["rel", "abs"] = "rel"
    cooldown: NonNegativeInt = 0
    min_lr: NonNegativeFloat = 0.0
    eps: NonNegativeFloat = 1e-8
    mode: Literal["monitor", "as-published"] = "monitor"

    def build(self, optimizer: torch.optim.Optimizer, run: Run) -> Scheduler:
        from torch.optim.lr_scheduler import ReduceLROnPlateau

        mode: Literal["min", "max"] = "max" if run.rising and self.mode == "monitor" else "min"
        scheduler: Scheduler = ReduceLROnPlateau(optimizer, **{**self.arguments, "mode": mode})
        return scheduler
