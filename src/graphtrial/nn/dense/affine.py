"""Affine maps as plain matrix products, on states that carry a row of ones.

A bias would cost a pass over all pairs, and its gradient another; with a row of ones in the state it is a column of the
matrix. Rows of zeros fill up to a multiple of eight, the numbers in a vector register, because matrix products of other
sizes are up to 40 % slower.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

LANES = 8


def padded(channels: int) -> int:
    """Return the rows of a state: its channels, the ones, and zeros up to a multiple of eight."""
    return (channels + LANES) // LANES * LANES


def with_ones(channels: Tensor) -> Tensor:
    """Return the state of these channels, [channels, pairs] -> [padded(channels), pairs]."""
    out = F.pad(channels, (0, 0, 0, padded(len(channels)) - len(channels)))
    out[len(channels)] = 1
    return out


def affine(weight: Tensor, bias: Tensor) -> Tensor:
    """Return the matrix of x -> W x + b for states: [outputs, inputs] -> [padded(outputs), padded(inputs)].

    It hands on the row of ones.
    """
    outputs, inputs = weight.shape
    matrix = torch.cat([weight, bias.unsqueeze(1)], dim=1)
    matrix = F.pad(matrix, (0, padded(inputs) - inputs - 1, 0, padded(outputs) - outputs))
    ones = torch.zeros_like(matrix)
    ones[outputs, inputs] = 1
    return matrix + ones
