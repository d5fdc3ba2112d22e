"""Gated graph convolution."""

from __future__ import annotations

from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.layers import Linear
from graphtrial.nn.registry import MODELS
from graphtrial.ops import gated_mean


@MODELS.register("gatedgcn", title="GatedGCN")
class GatedGCN(Conv):
    r"""Gated graph convolution with edge states, Bresson and Laurent 2017 (arXiv:1711.07553).

    .. math::
        e_{ji}' &= D h_j + E h_i + C e_{ji} \\
        h_i' &= A h_i + \frac{\sum_{j \to i} \sigma(e_{ji}') \odot B h_j}{\sum_{j \to i} \sigma(e_{ji}') + 10^{-6}}

    All five linear layers have a bias. x: [nodes, width] -> [nodes, width]; e: [edges, width], or [1, width] broadcast
    to all edges -> [edges, width].
    """

    edge_state = True

    def __init__(self, width: int) -> None:
        super().__init__()
        self.A = Linear(width, width)
        self.B = Linear(width, width)
        self.C = Linear(width, width)
        self.D = Linear(width, width)
        self.E = Linear(width, width)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        if e is None:
            raise GraphTrialError("GatedGCN needs a vector for each edge")
        source, target, value = self.D(x), self.E(x), self.B(x)
        neighbours, logits = gated_mean(graph, source, target, e, value, self.C.weight, self.C.bias)
        return self.A(x) + neighbours, logits
