"""Activations of the GraphGPS family."""

from __future__ import annotations

from typing import Literal

from torch import nn

Activation = Literal["relu", "gelu"]


def make_activation(name: Activation) -> nn.Module:
    """Return the activation as a module."""
    return nn.GELU() if name == "gelu" else nn.ReLU()
