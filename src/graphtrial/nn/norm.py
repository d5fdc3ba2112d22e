"""Batch normalisation, alone and together with ReLU and residual link."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.ops import batch_norm_relu


class BatchNorm(nn.BatchNorm1d):
    """Batch norm over the rows of x; a single row has no variance, so the running statistics serve it in training too.

    A last batch of one node or one edge would otherwise end a training. x: [rows, width] -> [rows, width].
    """

    running_mean: Tensor
    running_var: Tensor

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) if self.training and len(x) > 1 else self.settled(x)

    def settled(self, x: Tensor) -> Tensor:
        """Return x normalised by the running statistics."""
        return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)


class BatchNormReLU(BatchNorm):
    """ReLU(batch norm(x)) + residual in one pass. x, residual: [rows, width] -> [rows, width]."""

    def forward(self, x: Tensor, residual: Tensor | None = None) -> Tensor:
        if self.training and len(x) > 1:
            out, statistics = batch_norm_relu(x, self.weight, self.bias, residual, self.eps)
            with torch.no_grad():
                mean, variance = statistics.unbind()
                torch._foreach_lerp_([self.running_mean, self.running_var], [mean, variance], self.momentum or 0.0)
            return out
        out = self.settled(x).relu()
        return out if residual is None else out + residual
