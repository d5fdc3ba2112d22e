"""Stable Laplacian encoding (ESLapPE): eigenvectors enter as distances between nodes, never as node features."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.ops import edge_add


class StablePosition(nn.Module):
    """Linear layer of K eigenvectors, missing ones 0, Wang et al. 2022 (arXiv:2203.00199).

    vectors: [nodes, K] -> positions [nodes, width].
    """

    def __init__(self, frequencies: int, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(frequencies, width)

    def forward(self, vectors: Tensor) -> Tensor:
        out: Tensor = self.linear(vectors)
        return out


class DistanceGate(nn.Module):
    r"""Gate of each edge from the distance of its ends.

    .. math:: r_{ji} = \sigma\big(\mathrm{MLP}(\lVert p_i - p_j \rVert^2)\big)

    The MLP has one hidden layer of the model's width with ReLU. position: [nodes, width] -> [edges, 1].
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(1, width), nn.ReLU(), nn.Linear(width, 1), nn.Sigmoid())

    def forward(self, graph: GraphBatch, position: Tensor) -> Tensor:
        distance = edge_add(graph, position, -position).square().sum(dim=1, keepdim=True)
        out: Tensor = self.mlp(distance)
        return out
