"""Linear layer of towers: groups of channels, each with weights of its own."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from graphtrial.ops import tower_linear


class TowerLinear(nn.Module):
    r"""One linear layer per tower, all in one product.

    x: [rows, towers * inputs], or [rows, inputs] as the input of every tower -> [rows, towers * outputs]. Initialised
    as the released PNA and DGN: Xavier-uniform with gain 1 / `fan_in`, biases 0. `fan_in` is that of the whole layer,
    where several of these are summed as the parts of one layer on concatenated inputs.
    """

    def __init__(self, towers: int, inputs: int, outputs: int, *, fan_in: int = 0, bias: bool = True) -> None:
        super().__init__()
        fan_in = fan_in or inputs
        bound = math.sqrt(6 / (fan_in + outputs)) / fan_in
        self.weight = nn.Parameter(torch.empty(towers, outputs, inputs).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(towers, outputs)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        return tower_linear(x, self.weight, self.bias)
