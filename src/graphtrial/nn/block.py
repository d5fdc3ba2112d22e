"""Residual block: convolution, normalisation, activation, skip connection, dropout."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.core.arguments import DropoutRate
from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.layers import BatchNorm, Dropout
from graphtrial.ops.portable import at_least_32
from graphtrial.ops.recording import recordable


@dataclass(frozen=True)
class BlockConfig:
    """Options of a residual block: normalisation, skip connection, dropout.

    `graph_norm` divides node features by the square root of the graph's number of nodes (and edge features by that of
    its edges) before batch norm, as in the first version of the benchmark.
    """

    batch_norm: bool
    residual: bool
    dropout: DropoutRate
    layer_norm: bool = False
    graph_norm: bool = False

    def __post_init__(self) -> None:
        if self.batch_norm and self.layer_norm:
            raise GraphTrialError("a model has batch norm or layer norm, not both: set batch_norm=false")


class Block(nn.Module):
    """Residual block conv -> norm -> activation -> + input -> dropout, for node states and, if present, edge states.

    Class attributes of the layer choose the activation, the place of norm and dropout, and a `finish` after the skip
    connection. The `last` block leaves edge states unchanged, because no layer reads them.
    x: [nodes, width], e: [edges, width] -> the same shapes.
    """

    def __init__(self, conv: Conv, width: int, config: BlockConfig, *, last: bool = False) -> None:
        super().__init__()
        self.conv = conv
        self.last = last
        self.residual = config.residual
        self.graph_norm = config.graph_norm
        self.node_norm = _norm(conv, width, config)
        self.edge_norm = _norm(conv, width, config) if conv.edge_state else None
        self.dropout = Dropout(0.0 if conv.dropout_inside else config.dropout)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        new_x, new_e = self.conv(graph, self.dropout(x) if self.conv.dropout_first else x, e)
        if self.graph_norm:
            new_x = new_x * graph_norm(graph, "node", x.dtype)
        new_x = self._final_dropout(self.conv.finish(self._residual(self.node_norm, new_x, x)))
        if self.conv.edge_state and new_e is not None and e is not None and not self.last:
            if self.graph_norm:
                new_e = new_e * graph_norm(graph, "edge", e.dtype)
            new_e = self._final_dropout(self._residual(self.edge_norm, new_e, e))
        return new_x, new_e

    def _residual(self, norm: nn.Module | None, new: Tensor, old: Tensor) -> Tensor:
        """Return `activation(norm(new)) + old`, or without `old` if there is no skip connection."""
        if isinstance(norm, BatchNorm) and not self.conv.dropout_before_residual:
            out: Tensor = norm(self._activate(new) if self.conv.norm_last else new, old if self.residual else None)
            return out
        if norm is not None and not self.conv.norm_last:
            new = norm(new)
        new = self._activate(new)
        if norm is not None and self.conv.norm_last:
            new = norm(new)
        if self.conv.dropout_before_residual:
            new = self.dropout(new)
        return new + old if self.residual else new

    def _activate(self, x: Tensor) -> Tensor:
        return F.elu(x) if self.conv.activation == "elu" else x.relu()

    def _final_dropout(self, x: Tensor) -> Tensor:
        return x if self.conv.dropout_first or self.conv.dropout_before_residual else self.dropout(x)


def _norm(conv: Conv, width: int, config: BlockConfig) -> nn.Module | None:
    if config.layer_norm:
        return nn.LayerNorm(width)
    if not config.batch_norm:
        return None
    separate = conv.norm_last or conv.dropout_before_residual
    return BatchNorm(width, "none" if separate else conv.activation)


@recordable
def graph_norm(graph: GraphBatch, level: str, dtype: torch.dtype) -> Tensor:
    """Return 1 / sqrt(number of nodes or edges of the graph) for each node or edge, [rows, 1]."""

    dtype = at_least_32(dtype)

    def compute() -> Tensor:
        index = graph.batch if level == "node" else graph.batch.index_select(0, graph.edge_index[1])
        counts = (graph.ptr if level == "node" else graph.in_ptr.index_select(0, graph.ptr)).diff()
        return counts.to(dtype).rsqrt().index_select(0, index).unsqueeze(1)

    return graph.cached(f"{level} graph norm {dtype}", compute)
