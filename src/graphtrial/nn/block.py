"""A layer in the dress of the papers: normalisation, activation, residual link and dropout, in the layer's order."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.core.arguments import DropoutRate
from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.dropout import Dropout
from graphtrial.nn.norm import BatchNorm


@dataclass(frozen=True)
class Dress:
    """What surrounds each layer.

    `graph_norm` divides the vectors of a graph's nodes by the root of their number (and those of its edges by the root
    of theirs) before batch norm, as the first version of the benchmark did.
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
    """conv -> norm -> activation -> + input -> dropout, for node vectors and, where there are any, edge vectors.

    A layer may ask for another activation, for the norm after it, for dropout elsewhere, and for a last touch of its
    own after the residual link. After the `last` block nobody reads the edge vectors, which are left as they are.
    """

    def __init__(self, conv: Conv, width: int, dress: Dress, *, last: bool = False) -> None:
        super().__init__()
        self.conv = conv
        self.last = last
        self.residual = dress.residual
        self.graph_norm = dress.graph_norm
        self.node_norm = _norm(conv, width, dress)
        self.edge_norm = _norm(conv, width, dress) if conv.edge_state else None
        self.dropout = Dropout(0.0 if conv.dropout_inside else dress.dropout)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        new_x, new_e = self.conv(graph, self.dropout(x) if self.conv.dropout_first else x, e)
        if self.graph_norm:
            new_x = new_x * _shrink(graph, "node", x.dtype)
        new_x = self._drop_last(self.conv.finish(self._join(self.node_norm, new_x, x)))
        if self.conv.edge_state and new_e is not None and e is not None and not self.last:
            if self.graph_norm:
                new_e = new_e * _shrink(graph, "edge", e.dtype)
            new_e = self._drop_last(self._join(self.edge_norm, new_e, e))
        return new_x, new_e

    def _join(self, norm: nn.Module | None, new: Tensor, old: Tensor) -> Tensor:
        """Return the normalised, activated vectors with the old ones added."""
        if isinstance(norm, BatchNorm) and not self.conv.dropout_before_residual:
            return norm(self._activate(new) if self.conv.norm_last else new, old if self.residual else None)
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

    def _drop_last(self, x: Tensor) -> Tensor:
        return x if self.conv.dropout_first or self.conv.dropout_before_residual else self.dropout(x)


def _norm(conv: Conv, width: int, dress: Dress) -> nn.Module | None:
    if dress.layer_norm:
        return nn.LayerNorm(width)
    if not dress.batch_norm:
        return None
    apart = conv.norm_last or conv.dropout_before_residual
    return BatchNorm(width, "none" if apart else conv.activation)


def _shrink(graph: GraphBatch, level: str, dtype: torch.dtype) -> Tensor:
    """Return 1 / sqrt(nodes or edges of its graph) for each node or edge, as a column."""

    def make() -> Tensor:
        of = graph.batch if level == "node" else graph.batch.index_select(0, graph.edge_index[1])
        counts = torch.bincount(of, minlength=graph.num_graphs)
        return counts.to(dtype).rsqrt().index_select(0, of).unsqueeze(1)

    return graph.cached(f"{level} graph norm {dtype}", make)
