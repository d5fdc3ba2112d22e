"""Graph convolution with mean aggregation."""

from __future__ import annotations

from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.layers import Linear
from graphtrial.nn.registry import MODELS
from graphtrial.ops import aggregate


@MODELS.register("gcn-vanilla", title="vanilla GCN")
class VanillaGCN(Conv):
    r"""Graph convolution with mean aggregation, "vanilla GCN" in Dwivedi et al. 2022 (arXiv:2003.00982).

    .. math:: h_i' = W \, \mathrm{mean}_{j \to i} \, h_j + b

    x: [nodes, width] -> [nodes, width]; edge features are not used.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = Linear(width, width)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        return self.linear(aggregate(graph, x, "mean")), e
