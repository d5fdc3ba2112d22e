"""From the last vectors to the outputs of the task."""

from __future__ import annotations

from torch import nn

from graphtrial.errors import GraphTrialError


def halving_mlp(width: int, outputs: int) -> nn.Sequential:
    """Return the papers' head: width -> width/2 -> width/4 -> outputs, ReLU between."""
    if width < 4:
        raise GraphTrialError(f"the head halves the width twice, so a width of {width} leaves nothing: use 4 or more")
    half, quarter = width // 2, width // 4
    return nn.Sequential(
        nn.Linear(width, half), nn.ReLU(), nn.Linear(half, quarter), nn.ReLU(), nn.Linear(quarter, outputs)
    )
