"""From node vectors to one vector per graph."""

from __future__ import annotations

from torch import Tensor

from graphtrial.errors import GraphTrialError
from graphtrial.graphs import GraphBatch


def pool(graph: GraphBatch, x: Tensor, how: str) -> Tensor:
    """Return the mean, sum or maximum of the node vectors of each graph; 0 for a graph without nodes.

    x: [nodes, width] -> [graphs, width].
    """
    out = x.new_zeros(graph.num_graphs, x.shape[1])
    if how == "max":
        return out.scatter_reduce(0, graph.batch.unsqueeze(1).expand_as(x), x, "amax", include_self=False)
    if how not in ("mean", "sum"):
        raise GraphTrialError(f"no readout called '{how}': use mean, sum or max")
    out = out.index_add(0, graph.batch, x)
    if how == "mean":
        out = out / graph.ptr.diff().clamp(min=1).to(x.dtype).unsqueeze(1)
    return out
