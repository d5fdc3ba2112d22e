"""Batch normalisation that survives a batch of one row."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F


class BatchNorm(nn.BatchNorm1d):
    """Batch norm over the rows of x; a single row has no variance, so the running statistics serve it in training too.

    A last batch of one graph of one node, or of one edge, would otherwise end a training. x: [rows, width].
    """

    def forward(self, x: Tensor) -> Tensor:
        if self.training and len(x) == 1:
            return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)
        return super().forward(x)
