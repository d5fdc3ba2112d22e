"""Stop below a learning rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graphtrial.core.arguments import PositiveFloat
from graphtrial.training.optim.base import STOPPING, Progress, StoppingRule


@STOPPING.register("min_lr")
@dataclass(frozen=True)
class MinLR(StoppingRule):
    """Stop when the schedule has lowered the learning rate below `lr`, which a warm-up from below does not."""

    name: ClassVar[str] = "min_lr"

    lr: PositiveFloat

    def is_met(self, progress: Progress) -> bool:
        return progress.lr < self.lr and any(rate >= self.lr for rate in progress.rates)
