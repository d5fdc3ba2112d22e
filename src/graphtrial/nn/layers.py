"""Linear, dropout and batch norm modules on top of the fused operators."""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn

from graphtrial.ops import batch_norm, dropout, feature_linear, linear
from graphtrial.ops.batch_norm import batch_norm_inference, update_running_statistics


class Linear(nn.Linear):
    """`torch.nn.Linear` with a faster matrix product at small widths. x: [rows, inputs] -> [rows, outputs]."""

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


class FeatureLinear(Linear):
    """Linear layer of input features, sparse where that is faster, with dropout on them (see `ops.feature_linear`)."""

    def forward(self, x: Tensor, dropout: float = 0.0) -> Tensor:
        return feature_linear(x, self.weight, self.bias, dropout)


class Dropout(nn.Dropout):
    """`torch.nn.Dropout` with masks that are sampled faster (see `ops.dropout`)."""

    def forward(self, x: Tensor) -> Tensor:
        return dropout(x, self.p, self.training)


class BatchNorm(nn.BatchNorm1d):
    """Fused `activation(batch_norm(x)) + residual`.

    A single row, which has no variance, is normalised by the running statistics in training too, where torch raises an
    error. x: [rows, width]; residual: [rows, width] or [1, width] -> [rows, width].
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(self, width: int, activation: Literal["relu", "elu", "none"] = "none") -> None:
        super().__init__(width)
        self.activation = activation

    def forward(self, x: Tensor, residual: Tensor | None = None) -> Tensor:
        if self.training and len(x) > 1:
            out, statistics = batch_norm(x, self.weight, self.bias, residual, self.eps, self.activation)
            update_running_statistics(self.running_mean, self.running_var, statistics, self.momentum or 0.0)
            return out
        return batch_norm_inference(x, self, residual, self.activation)
