"""What executors tell of the trials they run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from graphtrial.trials.trial import TrialSpec


@dataclass(frozen=True)
class Progress:
    """What a listener hears: a trial started, finished an epoch, or ended."""

    trial: TrialSpec
    event: str
    epoch: int = 0


Listener = Callable[[Progress], None]
