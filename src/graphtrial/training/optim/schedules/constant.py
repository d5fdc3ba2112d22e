"""A constant learning rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graphtrial.training.optim.base import SCHEDULES, Run
from graphtrial.training.optim.closed_form import ClosedForm


@SCHEDULES.register("constant")
@dataclass(frozen=True)
class Constant(ClosedForm):
    """The learning rate of the optimizer throughout."""

    name: ClassVar[str] = "constant"

    def factor(self, step: int, run: Run) -> float:
        return 1.0
