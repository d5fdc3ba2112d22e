"""From node vectors to one vector per graph."""

from __future__ import annotations

import torch
from torch import Tensor

from graphtrial.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.ops.csr import members
from graphtrial.ops.maximum import maximum
from graphtrial.ops.spmm import weighted_sum


def pool(graph: GraphBatch, x: Tensor, how: str) -> Tensor:
    """Return the mean, sum or maximum of the node vectors of each graph; 0 for a graph without nodes.

    x: [nodes, width] -> [graphs, width].
    """
    if how == "max":
        return maximum(members(graph), x)
    if how not in ("mean", "sum"):
        raise GraphTrialError(f"no readout called '{how}': use mean, sum or max")

    def weights() -> Tensor:
        if how == "sum":
            return torch.ones(graph.num_nodes, dtype=x.dtype, device=x.device)
        return graph.ptr.diff().to(x.dtype).reciprocal().index_select(0, graph.batch)

    return weighted_sum(members(graph), x, graph.remember(f"pool {how} {x.dtype}", weights))
