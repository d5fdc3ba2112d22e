"""Gaussian mixture convolution."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphtrial.core.arguments import Width
from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.layers import Linear
from graphtrial.nn.registry import MODELS
from graphtrial.ops import add_row, gaussian_weights, mixture_sum

PSEUDO = 2
"""Pseudo-coordinates of an edge."""


@MODELS.register("monet", title="MoNet")
class MoNet(Conv):
    r"""Gaussian mixture convolution with degrees as pseudo-coordinates, Monti et al. 2017 (arXiv:1611.08402).

    .. math::
        u_{ji} &= \tanh\big(A \, [(d^{in}_j + 1)^{-1/2}, (d^{in}_i + 1)^{-1/2}] + a\big), \qquad
        w_{ji}^k = \exp\big(-\tfrac{1}{2} \|(u_{ji} - \mu_k) \odot \sigma_k^{-1}\|^2\big) \\
        h_i' &= \sum_{k} \sum_{j \to i} w_{ji}^k \, U^k h_j

    A bias b is added after norm, activation and skip connection, as in the reference (arXiv:2003.00982).
    x: [nodes, width] -> [nodes, width]; edge features are not used.
    """

    def __init__(self, width: int, kernels: Width = 3) -> None:
        super().__init__()
        self.pseudo = Linear(2, PSEUDO)
        self.mean = nn.Parameter(torch.empty(kernels, PSEUDO))
        self.inverse_width = nn.Parameter(torch.ones(kernels, PSEUDO))
        self.linear = Linear(width, kernels * width, bias=False)
        self.bias = nn.Parameter(torch.zeros(width))
        nn.init.normal_(self.mean, 0, 0.1)
        nn.init.xavier_normal_(self.linear.weight, gain=nn.init.calculate_gain("relu"))

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        z = self.linear(x).view(len(x), len(self.mean), len(self.bias))
        gaussians = self.pseudo.weight, self.pseudo.bias, self.mean, self.inverse_width
        return mixture_sum(graph, z, gaussian_weights(graph, *gaussians)), e

    def finish(self, x: Tensor) -> Tensor:
        return add_row(x, self.bias)
