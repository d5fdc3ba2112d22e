"""Stop after a number of hours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graphtrial.core.arguments import PositiveFloat
from graphtrial.training.optim.base import STOPPING, Progress, Status, StoppingRule


@STOPPING.register("max_hours")
@dataclass(frozen=True)
class MaxHours(StoppingRule):
    """Stop when the epochs have taken more than `hours`, training and validation; the trial's status is `time`."""

    name: ClassVar[str] = "max_hours"
    status: ClassVar[Status] = "time"

    hours: PositiveFloat

    def is_met(self, progress: Progress) -> bool:
        return progress.seconds > self.hours * 3600
