"""Early stopping with patience."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from graphtrial.core.arguments import NonNegativeFloat, PositiveInt
from graphtrial.training.optim.base import STOPPING, Progress, StoppingRule


@STOPPING.register("early_stopping")
@dataclass(frozen=True)
class EarlyStopping(StoppingRule):
    """Stop after `patience` epochs without an improvement of the monitored quantity by more than `min_delta`."""

    name: ClassVar[str] = "early_stopping"

    patience: PositiveInt
    min_delta: NonNegativeFloat = 0.0

    def is_met(self, progress: Progress) -> bool:
        best, waited = math.inf, 0
        for value in progress.values:
            if value < best - self.min_delta:
                best, waited = value, 0
            else:
                waited += 1
        return waited >= self.patience
