"""Batch normalisation together with activation and residual link."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.ops import batch_norm


class BatchNorm(nn.BatchNorm1d):
    """activation(batch norm(x)) + residual in one pass.

    A single row has no variance, so the running statistics serve it in training too: a last batch of one node or one
    edge would otherwise end a training. x: [rows, width]; residual: the same or [1, width] -> [rows, width].
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(self, width: int, activation: Literal["relu", "elu", "none"] = "none") -> None:
        super().__init__(width)
        self.activation = activation

    def forward(self, x: Tensor, residual: Tensor | None = None) -> Tensor:
        if self.training and len(x) > 1:
            out, statistics = batch_norm(x, self.weight, self.bias, residual, self.eps, self.activation)
            with torch.no_grad():
                mean, variance = statistics.unbind()
                torch._foreach_lerp_([self.running_mean, self.running_var], [mean, variance], self.momentum or 0.0)
            return out
        out = self.settled(x)
        out = out.relu() if self.activation == "relu" else F.elu(out) if self.activation == "elu" else out
        return out if residual is None else out + residual

    def settled(self, x: Tensor) -> Tensor:
        """Return x normalised by the running statistics."""
        return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)
