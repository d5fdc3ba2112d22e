"""Progress events of running trials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from graphtrial.trials.trial import TrialSpec


@dataclass(frozen=True)
class Progress:
    """A trial started, finished an epoch, or ended."""

    trial: TrialSpec
    event: Literal["start", "epoch", "end"]
    epoch: int = 0


Listener = Callable[[Progress], None]
