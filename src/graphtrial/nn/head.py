"""From the last vectors to the outputs of the task."""

from __future__ import annotations

from torch import nn


def halving_mlp(width: int, outputs: int) -> nn.Sequential:
    """Return the papers' head: width -> width/2 -> width/4 -> outputs, ReLU between."""
    half, quarter = width // 2, width // 4
    return nn.Sequential(
        nn.Linear(width, half), nn.ReLU(), nn.Linear(half, quarter), nn.ReLU(), nn.Linear(quarter, outputs)
    )
