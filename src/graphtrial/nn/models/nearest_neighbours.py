"""k-nearest-neighbour heuristic for edges."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.core.arguments import PositiveInt
from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes


@MODELS.register("nearest-neighbours", title="k-NN heuristic")
class NearestNeighbours(nn.Module):
    r"""Predict the edges from each node to its `k` nearest neighbours: the heuristic for TSP of Dwivedi et al.

    .. math:: \hat y_{ij} = c \cdot (-1, 1) \text{ if } j \text{ is among the } k \text{ nearest of } i,
        \text{ else } c \cdot (1, -1)

    The first edge feature is the distance. Predictions never change; the only parameter is the confidence c > 0, the
    scale of the logits, so that the loss is meaningful. The metric is the same before and after training. Returns
    [edges, 2].
    """

    levels = ("edge",)

    def __init__(self, shapes: Shapes, k: PositiveInt = 2) -> None:
        super().__init__()
        if shapes.level != "edge" or shapes.outputs != 2 or not shapes.edge_dim:
            raise GraphTrialError(
                "nearest neighbours are selected among edges with a distance, for two classes of edges"
            )
        self.k = k
        self.confidence = nn.Parameter(torch.zeros(()))

    def forward(self, graph: GraphBatch) -> Tensor:
        sign = torch.where(is_near(graph, self.k), 1.0, -1.0).to(self.confidence.dtype)
        return F.softplus(self.confidence) * torch.stack([-sign, sign], dim=1)


def is_near(graph: GraphBatch, k: int) -> Tensor:
    """Return the mask of edges to the `k` nearest neighbours of their source; ties go to the first edges."""
    if graph.edge_attr is None:
        raise GraphTrialError("these graphs have no edge features, so no distances")
    distance = graph.edge_attr.reshape(graph.num_edges, -1)[:, 0]
    order = torch.argsort(distance, stable=True)
    order = order[torch.argsort(graph.edge_index[0][order], stable=True)]  # by source, then by distance
    rank = torch.empty_like(order)
    rank[order] = torch.arange(len(order), device=order.device) - graph.out_ptr[graph.edge_index[0][order]]
    return rank < k
