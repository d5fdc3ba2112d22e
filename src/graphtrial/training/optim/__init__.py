"""Components of a training: optimizers, learning-rate schedules and stopping rules."""

from graphtrial.training.optim.base import OPTIMIZERS, SCHEDULES, STOPPING, Optimizer, Schedule, StoppingRule

__all__ = ["OPTIMIZERS", "SCHEDULES", "STOPPING", "Optimizer", "Schedule", "StoppingRule"]
