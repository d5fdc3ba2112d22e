"""Stop after a number of epochs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graphtrial.core.arguments import PositiveInt
from graphtrial.training.optim.base import STOPPING, Progress, StoppingRule


@STOPPING.register("max_epochs")
@dataclass(frozen=True)
class MaxEpochs(StoppingRule):
    """Stop after `epochs` epochs."""

    name: ClassVar[str] = "max_epochs"

    epochs: PositiveInt

    def is_met(self, progress: Progress) -> bool:
        return len(progress.values) >= self.epochs
