"""Gated graph convolution without gates."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.registry import MODELS
from graphtrial.ops import aggregate


@MODELS.register("gatedgcn-isotropic", title="GatedGCN (isotropic)")
class IsotropicGatedGCN(Conv):
    r"""GatedGCN with all gates 1, of the edge study in Dwivedi et al. 2022 (arXiv:2003.00982), table 14.

    .. math:: h_i' = A h_i + \sum_{j \to i} B h_j

    Both linear layers have a bias. x: [nodes, width] -> [nodes, width]; edge features are not used.
    """

    options = ("idle_edge_embedding",)

    def __init__(self, width: int) -> None:
        super().__init__()
        self.A = nn.Linear(width, width)
        self.B = nn.Linear(width, width)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        return self.A(x) + aggregate(graph, self.B(x), "sum"), e
