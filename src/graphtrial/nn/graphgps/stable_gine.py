"""GINE whose messages are gated by the distance of stable positions."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.position.stable import DistanceGate
from graphtrial.ops import aggregate_messages


class StableGINE(nn.Module):
    r"""GINE with messages weighted by `DistanceGate`, GINEConvESLapPE of GraphGPS (arXiv:2205.12454).

    .. math:: h_i' = \mathrm{MLP}\big(h_i + \sum_{j \to i} r_{ji}\, \mathrm{ReLU}(h_j + e_{ji})\big)

    The released class cannot be built, and would add the row of node 1 to every node. x: [nodes, width], e: [edges or
    1, width], position: [nodes, width] -> [nodes, width].
    """

    def __init__(self, mlp: nn.Module, width: int) -> None:
        super().__init__()
        self.mlp = mlp
        self.distance_gate = DistanceGate(width)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor, position: Tensor) -> Tensor:
        messages = (x.index_select(0, graph.edge_index[0]) + e).relu() * self.distance_gate(graph, position)
        out: Tensor = self.mlp(x + aggregate_messages(graph, messages))
        return out
