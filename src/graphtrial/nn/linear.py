"""The linear map of node and edge vectors."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.ops import linear


class Linear(nn.Linear):
    """The linear map of torch with products of our own where they are faster. x: [rows, inputs] -> [rows, outputs]."""

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)
