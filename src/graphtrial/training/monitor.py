"""Monitored quantity: selection of the best epoch, and stopping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphtrial.tasks import Task
from graphtrial.training.optim.base import Progress, StoppingRule
from graphtrial.training.outcome import Epoch
from graphtrial.training.rules import TrainingRules


@dataclass(frozen=True)
class Monitor:
    """Follows the validation loss or the validation score of a training, as its rules say."""

    rules: TrainingRules
    task: Task

    @property
    def rising(self) -> bool:
        """Higher is better."""
        return self.rules.monitor == "val_score" and self.task.metric.higher_is_better

    def value(self, epoch: Epoch) -> float:
        """Return the monitored quantity of an epoch."""
        return epoch.val_score if self.rules.monitor == "val_score" else epoch.val_loss

    def is_best(self, epoch: Epoch, before: Sequence[Epoch]) -> bool:
        """Return whether an epoch is strictly better than all before, so that its weights are the best state."""
        sign = -1 if self.rising else 1
        mine = sign * self.value(epoch)
        return self.rules.evaluate == "best" and all(mine < sign * self.value(other) for other in before)

    def stop_reason(self, history: Sequence[Epoch], lr: float) -> StoppingRule | None:
        """Return the stopping rule that is met, if any; a time limit comes last."""
        sign = -1 if self.rising else 1
        values, rates = [sign * self.value(e) for e in history], [e.lr for e in history]
        progress = Progress(values, rates, sum(e.seconds for e in history), lr)
        met = [rule for rule in self.rules.stopping if rule.is_met(progress)]
        return min(met, key=lambda rule: rule.status != "done", default=None)
