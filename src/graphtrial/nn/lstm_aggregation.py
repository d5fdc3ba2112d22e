"""LSTM aggregation over in-neighbours."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from graphtrial.graphs import GraphBatch


class LSTMAggregation(nn.Module):
    """Last hidden state of an LSTM over the in-neighbours of each node in edge order; 0 for nodes without in-edges.

    All nodes run at once as a packed sequence sorted by degree: step t holds the t-th neighbour of every node that has
    one. x: [nodes, width] -> [nodes, width].
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(width, width)

    def forward(self, graph: GraphBatch, x: Tensor) -> Tensor:
        if not graph.num_edges:
            return torch.zeros_like(x)
        nodes, senders, steps = graph.cached("neighbours by degree", lambda: _by_degree(graph))
        _, (state, _) = self.lstm(PackedSequence(x.index_select(0, senders), steps))
        return torch.zeros_like(x).index_copy(0, nodes, state[0])


def _by_degree(graph: GraphBatch) -> tuple[Tensor, Tensor, Tensor]:
    """Return nodes with in-edges by descending degree, sources of edges by step, and the batch size of each step."""
    source, target = graph.edge_index
    nodes = torch.argsort(graph.in_degree, descending=True, stable=True)
    place = torch.empty_like(nodes)
    place[nodes] = torch.arange(len(nodes), device=nodes.device)
    step = torch.arange(graph.num_edges, device=target.device) - graph.in_ptr.index_select(0, target)
    order = torch.argsort(step * len(nodes) + place.index_select(0, target))
    steps = torch.bincount(step)
    return nodes[: int(steps[0])], source.index_select(0, order), steps.cpu()
