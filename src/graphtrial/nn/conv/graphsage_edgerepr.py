"""GraphSage with edge states."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.conv.graphsage_edgefeat import gated_max
from graphtrial.nn.registry import MODELS


@MODELS.register("graphsage-edgerepr", title="GraphSage (edge states)")
class EdgeStateGraphSage(Conv):
    r"""GraphSage whose gates are edge states, of the edge study in Dwivedi et al. 2022 (arXiv:2003.00982), table 14.

    .. math::
        e_{ji}' &= C e_{ji} + B h_j + B h_i \\
        \hat h_i &= U \, [h_i \,\|\, \max_{j \to i} \mathrm{ReLU}(\sigma(e_{ji}') \odot A h_j)], \qquad
        h_i' = \hat h_i / \|\hat h_i\|_2

    All linear layers have a bias. x: [nodes, width] -> [nodes, width]; e: [edges, width] -> [edges, width].
    """

    edge_state = True
    norm_last = True
    dropout_first = True

    def __init__(self, width: int) -> None:
        super().__init__()
        self.A = nn.Linear(width, width)
        self.B = nn.Linear(width, width)
        self.C = nn.Linear(width, width)
        self.linear = nn.Linear(2 * width, width)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        if e is None:
            raise GraphTrialError("GraphSage with edge states needs a vector for each edge")
        sender, receiver = graph.edge_index
        b = self.B(x)
        logits = self.C(e) + b.index_select(0, sender) + b.index_select(0, receiver)
        neighbours = gated_max(graph, self.A(x), torch.sigmoid(logits))
        return F.normalize(self.linear(torch.cat([x, neighbours], dim=1))), logits
