"""Biases of attention in the released Graphormer 1.0, with tables of fixed sizes."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs import shortest_path_distances
from graphtrial.graphs.pairs.path_edges import path_edges
from graphtrial.nn.graphgps.graphormer_bias import STD, PairBias
from graphtrial.nn.shapes import Shapes

EDGE_ROWS, DISTANCE_ROWS, HOP_ROWS, HOPS = 64, 40, 40, 20


class PaddedPairBias(PairBias):
    r"""Biases of attention from shortest paths, Ying et al. 2021 (arXiv:2106.05234), as in Graphormer 1.0.

    .. math:: b_{ij} = s_{d(i, j)} + \frac{1}{\min(20, \max(1, d(i, j)))}
        \sum_{k=1}^{\min(20, d(i, j))} W_k\, t(e_k)

    Tables have the released sizes, 64 edge types, 40 distances and 40 hops, with row 0 for padding; pairs without a
    path, which ZINC does not have, are as far as the last row. Hops beyond the end of a path count nothing: in the
    released code they count as the padding row, which its initialisation fills with noise, up to the longest path of
    the batch. Where there are several shortest paths the mean over all of them is taken.
    """

    def __init__(self, shapes: Shapes, heads: int, *, use_edges: bool) -> None:
        super().__init__(shapes, heads, token=True, use_edges=use_edges)
        if use_edges and shapes.edge_types >= EDGE_ROWS:
            raise GraphTrialError(f"graphormer has room for {EDGE_ROWS - 1} edge types, not for {shapes.edge_types}")
        self.distance = nn.Embedding(DISTANCE_ROWS, heads)
        self.edge = nn.Embedding(EDGE_ROWS, heads) if use_edges else None
        self.hop = nn.Parameter(torch.randn(HOP_ROWS, heads, heads) * STD) if use_edges else None

    def between_nodes(self, graph: GraphBatch) -> Tensor:
        """Return the bias of each pair of nodes, [pairs, heads]."""
        distance, far = shortest_path_distances(graph), DISTANCE_ROWS - 2
        distance = torch.where(distance < 0, far, distance.clamp(max=far))
        bias: Tensor = self.distance(distance + 1)
        if self.edge is None or self.hop is None:
            return bias
        if graph.edge_attr is None:
            raise GraphTrialError("the batch lacks the edge features that this model was built for")
        paths = path_edges(graph, HOPS)
        table = torch.einsum("th,khg->ktg", self.edge.weight, self.hop)
        types = graph.edge_attr.reshape(-1).long().index_select(0, paths.edge) + 1
        of_hops = table.flatten(0, 1).index_select(0, paths.hop * EDGE_ROWS + types)
        weighted = of_hops * paths.weight.to(bias.dtype).unsqueeze(1)
        length = distance.clamp(1, HOPS).to(bias.dtype).unsqueeze(1)
        return bias + torch.zeros_like(bias).index_add(0, paths.pair, weighted) / length
