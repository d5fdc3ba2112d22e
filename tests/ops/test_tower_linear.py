"""Linear layers of towers, against one `torch.nn.functional.linear` per tower."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.samples import vectors
from tests.helpers.sampling import rotating
from torch import Tensor
from torch.nn import functional as F

from graphtrial.ops import tower_linear
from graphtrial.ops.portable import portable_path

SIZES = [(4, 16, 16), (3, 13, 29), (5, 64, 16), (2, 12, 12), (3, 4, 5), (1, 16, 24)]
"""Towers, inputs and outputs: with register tiles, at their limit, below it, and without towers."""


def one_by_one(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    towers, _, inputs = weight.shape
    parts = [x] * towers if x.shape[1] == inputs else x.split(inputs, dim=1)
    return torch.cat([F.linear(parts[t], weight[t], None if bias is None else bias[t]) for t in range(towers)], dim=1)


@pytest.mark.parametrize(
    ("size", "rows", "shared", "with_bias", "portable"),
    rotating(SIZES, [300, 12, 7, 0], [False, True], [False, True], [False, True]),
)
def test_values_and_gradients_equal_one_layer_per_tower(
    size: tuple[int, int, int], rows: int, shared: bool, with_bias: bool, portable: bool
) -> None:
    towers, inputs, outputs = size
    x = vectors(rows, inputs if shared else towers * inputs).requires_grad_()
    weight = vectors(towers * outputs, inputs, seed=1).view(towers, outputs, inputs).requires_grad_()
    bias = vectors(towers, outputs, seed=2).requires_grad_() if with_bias else None
    expected = one_by_one(x, weight, bias)
    with portable_path(portable):
        out = tower_linear(x, weight, bias)
    torch.testing.assert_close(out, expected)
    leaves = [each for each in (x, weight, bias) if each is not None]
    g = vectors(*out.shape, seed=3)
    torch.testing.assert_close(torch.autograd.grad(out, leaves, g), torch.autograd.grad(expected, leaves, g))
