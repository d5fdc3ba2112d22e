"""Batch normalisation, ReLU and residual link in one module."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.ops import batch_norm_relu


class BatchNormReLU(nn.BatchNorm1d):
    """ReLU(batch norm(x)) + residual, over the rows of x; parameters and state are those of `nn.BatchNorm1d`.

    A single row has no variance, so the running statistics serve it in training too: a last batch of one node or one
    edge would otherwise end a training. x, residual: [rows, width] -> [rows, width].
    """

    running_mean: Tensor
    running_var: Tensor

    def forward(self, x: Tensor, residual: Tensor | None = None) -> Tensor:
        if self.training and len(x) > 1:
            out, statistics = batch_norm_relu(x, self.weight, self.bias, residual, self.eps)
            with torch.no_grad():
                mean, variance = statistics.unbind()
                torch._foreach_lerp_([self.running_mean, self.running_var], [mean, variance], self.momentum or 0.0)
            return out
        out = F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps).relu()
        return out if residual is None else out + residual
