"""Graph convolution with symmetric normalisation."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.layers import Linear
from graphtrial.nn.registry import MODELS
from graphtrial.ops import aggregate, symmetric_weight


@MODELS.register("gcn", title="GCN")
class GCN(Conv):
    r"""Graph convolution, Kipf and Welling 2017 (arXiv:1609.02907), without self-loops.

    .. math:: h_i' = W \sum_{j \to i} \frac{h_j}{\sqrt{d^{out}_j \, d^{in}_i}} + b

    x: [nodes, width] -> [nodes, width]; edge features are not used.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = Linear(width, width)
        nn.init.xavier_uniform_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        return self.linear(aggregate(graph, x, "sum", symmetric_weight(graph, x.dtype))), e
