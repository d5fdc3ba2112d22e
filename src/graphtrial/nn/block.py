"""A layer in the dress of the papers: normalisation, activation, residual link and dropout, in the layer's order."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.norm import BatchNorm, BatchNormReLU


class Block(nn.Module):
    """conv -> batch norm -> activation -> + input -> dropout, for node vectors and, where there are any, edge vectors.

    A layer may ask for another activation, for batch norm after it, and for dropout before everything.
    """

    def __init__(self, conv: Conv, width: int, *, batch_norm: bool, residual: bool, dropout: float) -> None:
        super().__init__()
        self.conv = conv
        self.residual = residual
        fused = conv.activation == "relu" and not conv.norm_last
        norm = BatchNormReLU if fused else BatchNorm
        self.node_norm = norm(width) if batch_norm else None
        self.edge_norm = norm(width) if batch_norm and conv.edge_state else None
        self.dropout = nn.Dropout(dropout)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        if self.conv.dropout_first:
            x = self.dropout(x)
        new_x, new_e = self.conv(graph, x, e)
        new_x = self._finish(self.node_norm, new_x, x)
        if self.conv.edge_state and new_e is not None and e is not None:
            new_e = self._finish(self.edge_norm, new_e, e)
        return new_x, new_e

    def _finish(self, norm: BatchNorm | None, new: Tensor, old: Tensor) -> Tensor:
        if isinstance(norm, BatchNormReLU):
            out = norm(new, old if self.residual else None)
        else:
            if norm is not None and not self.conv.norm_last:
                new = norm(new)
            new = F.elu(new) if self.conv.activation == "elu" else new.relu()
            if norm is not None and self.conv.norm_last:
                new = norm(new)
            out = new + old if self.residual else new
        return out if self.conv.dropout_first else self.dropout(out)
