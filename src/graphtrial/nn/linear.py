"""The linear map of node and edge vectors."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.ops import feature_linear, linear


class Linear(nn.Linear):
    """The linear map of torch with products of our own where they are faster. x: [rows, inputs] -> [rows, outputs]."""

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


class FeatureLinear(Linear):
    """The linear map of the features of nodes, a share of which is dropped before (see `ops.feature_linear`)."""

    def forward(self, x: Tensor, dropout: float = 0.0) -> Tensor:
        return feature_linear(x, self.weight, self.bias, dropout)
