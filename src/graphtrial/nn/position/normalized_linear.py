"""Batch norm and linear layer of a structural encoding."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.nn.encoder import zero_missing
from graphtrial.nn.layers import BatchNorm, Linear


class NormalizedLinear(nn.Module):
    """Batch norm of the raw columns, then a linear layer: GraphGPS's encoder of random-walk probabilities (RWSE).

    Missing values (NaN) are 0. values: [nodes, columns] -> [nodes, width].
    """

    def __init__(self, columns: int, width: int) -> None:
        super().__init__()
        self.norm = BatchNorm(columns)
        self.linear = Linear(columns, width)

    def forward(self, values: Tensor) -> Tensor:
        out: Tensor = self.linear(self.norm(zero_missing(values)))
        return out
