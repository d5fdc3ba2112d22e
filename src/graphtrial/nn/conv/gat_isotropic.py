"""Graph attention without attention."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.registry import MODELS
from graphtrial.ops import aggregate


@MODELS.register("gat-isotropic", title="GAT (isotropic)")
class IsotropicGAT(Conv):
    r"""GAT with uniform weights, of the edge study in Dwivedi et al. 2022 (arXiv:2003.00982), table 14.

    .. math:: h_i' = \sum_{j \to i} W h_j

    Without attention the heads are the same linear layer.
    x: [nodes, width] -> [nodes, width]; edge features are not used.
    """

    activation = "elu"
    dropout_before_residual = True
    options = ("idle_edge_embedding",)

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width, bias=False)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        return aggregate(graph, self.linear(x), "sum"), e
