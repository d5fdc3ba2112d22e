"""Feed-forward block of transformer layers."""

from __future__ import annotations

from torch import nn

from graphtrial.nn.graphgps.activation import Activation, make_activation
from graphtrial.nn.layers import Dropout, Linear


def feed_forward(width: int, activation: Activation, dropout: float, *, last_dropout: bool = True) -> nn.Sequential:
    """Return Linear(d -> 2d), activation, dropout, Linear(2d -> d) and, with `last_dropout`, dropout."""
    parts = [Linear(width, 2 * width), make_activation(activation), Dropout(dropout), Linear(2 * width, width)]
    return nn.Sequential(*parts, *([Dropout(dropout)] if last_dropout else []))
