"""GatedGCN layer of GraphGPS: gated convolution, batch norm, activation, dropout, skip connection."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.gatedgcn import GatedGCN
from graphtrial.nn.graphgps.activation import Activation, make_activation
from graphtrial.nn.layers import BatchNorm, Dropout
from graphtrial.nn.position.stable import DistanceGate
from graphtrial.ops import aggregate_messages, edge_add

EPSILON = 1e-6


class GatedLayer(nn.Module):
    r"""GatedGCN with dropout before the skip connection, of nodes and edges, as in GraphGPS (arXiv:2205.12454).

    With `stable`, the gates are multiplied by those of a `DistanceGate`:

    .. math:: h_i' = A h_i + \frac{\sum_{j \to i} r_{ji}\, \sigma(e_{ji}') \odot B h_j}
        {\sum_{j \to i} r_{ji}\, \sigma(e_{ji}') + 10^{-6}}

    The `last` layer leaves edges unchanged, because nothing reads them. x: [nodes, width], e: [edges or 1, width] ->
    the same shapes.
    """

    def __init__(
        self,
        width: int,
        dropout: float,
        activation: Activation = "relu",
        *,
        residual: bool = True,
        stable: bool = False,
        last: bool = False,
    ) -> None:
        super().__init__()
        self.conv = GatedGCN(width)
        self.distance_gate = DistanceGate(width) if stable else None
        self.fused = activation == "relu" and not dropout
        self.node_norm = BatchNorm(width, "relu" if self.fused else "none")
        self.edge_norm = BatchNorm(width, "relu" if self.fused else "none")
        self.act = nn.Sequential(make_activation(activation), Dropout(dropout))
        self.residual = residual
        self.last = last

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor, position: Tensor | None = None) -> tuple[Tensor, Tensor]:
        new_x, new_e = self._convolve(graph, x, e, position)
        return self._finish(self.node_norm, new_x, x), e if self.last else self._finish(self.edge_norm, new_e, e)

    def _convolve(self, graph: GraphBatch, x: Tensor, e: Tensor, position: Tensor | None) -> tuple[Tensor, Tensor]:
        conv = self.conv
        if self.distance_gate is None or position is None:
            new_x, new_e = conv(graph, x, e)
            return new_x, new_e
        logits = edge_add(graph, conv.D(x), conv.E(x)) + conv.C(e)
        gates = logits.sigmoid() * self.distance_gate(graph, position)
        messages = gates * conv.B(x).index_select(0, graph.edge_index[0])
        mean = aggregate_messages(graph, messages) / (aggregate_messages(graph, gates) + EPSILON)
        return conv.A(x) + mean, logits

    def _finish(self, norm: nn.Module, new: Tensor, old: Tensor) -> Tensor:
        """Return old + dropout(activation(norm(new))), or without `old` if there is no skip connection."""
        if self.fused:
            out: Tensor = norm(new, old if self.residual else None)
            return out
        out = self.act(norm(new))
        return out + old if self.residual else out
