"""Graph attention with edge states."""

from __future__ import annotations

from types import MappingProxyType

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.core.arguments import Width
from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.registry import MODELS
from graphtrial.ops import aggregate, edge_softmax


@MODELS.register("gat-edgerepr", title="GAT (edge states)")
class EdgeStateGAT(Conv):
    r"""GAT that reads and updates edge states, of the edge study in Dwivedi et al. 2022 (arXiv:2003.00982), table 14.

    .. math::
        z_i &= W h_i, \quad m_{ji} = [V e_{ji} \,\|\, z_j \,\|\, z_i], \quad e_{ji}' = P m_{ji} + b \\
        h_i' &= \sum_{j \to i} \alpha_{ji} z_j, \quad
        \alpha_{ji} = \mathrm{softmax}_{j \to i} \, \mathrm{LeakyReLU}_{0.01}(a \cdot m_{ji})

    Per head; `width` is the total width of all heads. P and a are applied to the three parts of m separately, so that
    the node parts are computed once per node.
    x: [nodes, width] -> [nodes, width]; e: [edges, width] -> [edges, width].
    """

    edge_state = True
    activation = "elu"
    width_divisor = "heads"
    last_layer = MappingProxyType({"heads": 1})
    dropout_before_residual = True

    def __init__(self, width: int, heads: Width = 8) -> None:
        super().__init__()
        head_width = width // heads
        self.node = nn.Linear(width, width, bias=False)
        self.edge = nn.Linear(width, width, bias=False)
        self.mix = nn.Parameter(torch.empty(3, heads, head_width, head_width + 1))  # P and, in the last column, a
        self.bias = nn.Parameter(torch.empty(width))
        for weight in (self.mix, self.bias):
            nn.init.uniform_(weight, -((3 * head_width) ** -0.5), (3 * head_width) ** -0.5)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        if e is None:
            raise GraphTrialError("GAT with edge states needs a vector for each edge")
        shape = (-1, *self.mix.shape[1:3])
        z = self.node(x).view(shape)
        parts = (self.edge(e).view(shape), z, z)
        on_edge, source, target = (
            torch.einsum("nhi,hio->nho", part, mix) for part, mix in zip(parts, self.mix, strict=True)
        )
        sender, receiver = graph.edge_index
        mixed = on_edge + source.index_select(0, sender) + target.index_select(0, receiver)
        attention = edge_softmax(graph, F.leaky_relu(mixed[..., -1]))
        return aggregate(graph, z, "sum", attention).flatten(1), mixed[..., :-1].flatten(1) + self.bias
