"""A layer in the dress of the papers: normalisation, activation, residual link, dropout, in this order."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.norm import BatchNormReLU


class Block(nn.Module):
    """conv -> batch norm -> ReLU -> + input -> dropout, for node vectors and for edge vectors where there are any."""

    def __init__(self, conv: Conv, width: int, *, batch_norm: bool, residual: bool, dropout: float) -> None:
        super().__init__()
        self.conv = conv
        self.residual = residual
        self.node_norm = BatchNormReLU(width) if batch_norm else None
        self.edge_norm = BatchNormReLU(width) if batch_norm and conv.edge_state else None
        self.dropout = nn.Dropout(dropout)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        new_x, new_e = self.conv(graph, x, e)
        new_x = self._finish(self.node_norm, new_x, x)
        if self.conv.edge_state and new_e is not None and e is not None:
            new_e = self._finish(self.edge_norm, new_e, e)
        return new_x, new_e

    def _finish(self, norm: BatchNormReLU | None, new: Tensor, old: Tensor) -> Tensor:
        if norm is not None:
            return self.dropout(norm(new, old if self.residual else None))
        return self.dropout(new.relu() + old if self.residual else new.relu())
