"""A layer in the dress of the papers: normalisation, activation, residual link, dropout, in this order."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.norm import BatchNorm


class Block(nn.Module):
    """conv -> batch norm -> ReLU -> + input -> dropout, for node vectors and for edge vectors where there are any."""

    def __init__(self, conv: Conv, width: int, *, batch_norm: bool, residual: bool, dropout: float) -> None:
        super().__init__()
        self.conv = conv
        self.residual = residual
        self.node_norm = BatchNorm(width) if batch_norm else nn.Identity()
        self.edge_norm = BatchNorm(width) if batch_norm and conv.edge_state else nn.Identity()
        self.dropout = nn.Dropout(dropout)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        new_x, new_e = self.conv(graph, x, e)
        new_x = self._finish(self.node_norm, new_x, x)
        if self.conv.edge_state and new_e is not None and e is not None:
            new_e = self._finish(self.edge_norm, new_e, e)
        return new_x, new_e

    def _finish(self, norm: nn.Module, new: Tensor, old: Tensor) -> Tensor:
        new = norm(new).relu()
        return self.dropout(old + new if self.residual else new)
