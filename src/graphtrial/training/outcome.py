"""The outcome of a training."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from graphtrial.training.optim.base import Status

EXTRA_METRICS = "extra_metrics"
"""Key of the extra metrics of the test set among the details of a stored outcome."""
MIXED_DEVICES = "mixed_devices"
"""Key of the devices of a training that was resumed on another one, among the details of a stored outcome."""


@dataclass(frozen=True)
class Epoch:
    """One epoch: the learning rate it used, mean losses over examples, the validation score, and its seconds."""

    epoch: int
    lr: float
    train_loss: float
    val_loss: float
    val_score: float
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """Outcome of a training.

    `done`: the rules ended it; `time`: the time limit did; `diverged`: a loss was not finite; `oom`: memory ran out;
    `paused`: it stopped at a given epoch, to be resumed. Scores are those of the evaluated weights over all examples of
    each split; a training that diverged, ran out of memory or is paused has none. `details` are additional JSON-like
    values that only some kinds of trials have.
    """

    status: Status
    params: int
    epochs: list[Epoch]
    scores: dict[str, float] = field(default_factory=dict)
    weights: dict[str, Tensor] = field(default_factory=dict, repr=False)
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def epoch_seconds(self) -> float:
        """The mean seconds per epoch; 0 where none was finished."""
        return sum(e.seconds for e in self.epochs) / len(self.epochs) if self.epochs else 0.0
