"""Gated graph convolution with gates from both endpoints of an edge."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.registry import MODELS
from graphtrial.ops import gated_mean


@MODELS.register("gatedgcn-edgefeat", title="GatedGCN (edge features)")
class EdgeFeatureGatedGCN(Conv):
    r"""GatedGCN without edge states, of the edge study in Dwivedi et al. 2022 (arXiv:2003.00982), table 14.

    .. math::
        g_{ji} = \sigma(D h_j + E h_i), \qquad
        h_i' = A h_i + \frac{\sum_{j \to i} g_{ji} \odot B h_j}{\sum_{j \to i} g_{ji} + 10^{-6}}

    All four linear layers have a bias. x: [nodes, width] -> [nodes, width]; edge features are not used.
    """

    options = ("idle_edge_embedding",)

    def __init__(self, width: int) -> None:
        super().__init__()
        self.A = nn.Linear(width, width)
        self.B = nn.Linear(width, width)
        self.D = nn.Linear(width, width)
        self.E = nn.Linear(width, width)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        neighbours, _ = gated_mean(graph, self.D(x), self.E(x), None, self.B(x))
        return self.A(x) + neighbours, e
