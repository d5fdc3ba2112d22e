"""GraphSage with gates from both endpoints of an edge."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.registry import MODELS
from graphtrial.ops import aggregate_messages


@MODELS.register("graphsage-edgefeat", title="GraphSage (edge features)")
class EdgeFeatureGraphSage(Conv):
    r"""GraphSage with gated neighbours, of the edge study in Dwivedi et al. 2022 (arXiv:2003.00982), table 14.

    .. math::
        \hat h_i = U \, [h_i \,\|\, \max_{j \to i} \mathrm{ReLU}(\sigma(B h_j + B h_i) \odot A h_j)], \qquad
        h_i' = \hat h_i / \|\hat h_i\|_2

    All linear layers have a bias. x: [nodes, width] -> [nodes, width]; edge features are not used.
    """

    norm_last = True
    dropout_first = True

    def __init__(self, width: int) -> None:
        super().__init__()
        self.A = nn.Linear(width, width)
        self.B = nn.Linear(width, width)
        self.linear = nn.Linear(2 * width, width)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        sender, receiver = graph.edge_index
        b = self.B(x)
        gates = torch.sigmoid(b.index_select(0, sender) + b.index_select(0, receiver))
        return F.normalize(self.linear(torch.cat([x, gated_max(graph, self.A(x), gates)], dim=1))), e


def gated_max(graph: GraphBatch, values: Tensor, gates: Tensor) -> Tensor:
    """Max-aggregate ReLU(gate * value of the source) over in-edges, [nodes, width]."""
    return aggregate_messages(graph, (gates * values.index_select(0, graph.edge_index[0])).relu(), "max")
