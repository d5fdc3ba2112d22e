"""Graphormer's structural encodings as in GraphGPS: degrees of nodes, biases of pairs, graph token."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs import pair_layout, shortest_path_distances
from graphtrial.graphs.pairs.complete import TokenGraph, add_tokens, pair_index
from graphtrial.graphs.pairs.path_edges import path_edges
from graphtrial.nn.shapes import Shapes
from graphtrial.ops.graph_attention import pair_blocks

DISTANCES = 20
"""Distance categories: 0 to 18, 19 and more; one more category is for pairs without a path."""
DEGREES = 64
STD = 0.02


class DegreeEmbedding(nn.Module):
    """Sum of the embeddings of in-degree and out-degree, at most 63. Returns [nodes, width].

    With `out_degree_twice` the out-degree replaces the in-degree, as in Graphormer 1.0.
    """

    def __init__(self, width: int, *, out_degree_twice: bool = False) -> None:
        super().__init__()
        self.out_degree_twice = out_degree_twice
        self.in_degree = _embedding(DEGREES, width)
        self.out_degree = _embedding(DEGREES, width)

    def forward(self, graph: GraphBatch) -> Tensor:
        degree = graph.out_degree if self.out_degree_twice else graph.in_degree
        incoming: Tensor = self.in_degree(degree.clamp(max=DEGREES - 1))
        out: Tensor = incoming + self.out_degree(graph.out_degree.clamp(max=DEGREES - 1))
        return out


class GraphToken(nn.Module):
    """Learnable state of the token node of each graph. x: [nodes, width] -> [nodes + graphs, width]."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.state = nn.Parameter(torch.randn(1, width) * STD)

    def forward(self, tokens: TokenGraph, x: Tensor) -> Tensor:
        start = self.state.expand(tokens.graph.num_nodes, -1)
        return start.index_copy(0, tokens.nodes, x)


class PairBias(nn.Module):
    r"""Biases of attention from shortest paths, Ying et al. 2021 (arXiv:2106.05234), as in GraphGPS.

    .. math:: b_{ij} = s_{d(i, j)} + \frac{1}{\max(1, d(i, j))} \sum_{k=1}^{20} W_k\, t(e_k)

    e_k is the type of the k-th edge on the shortest path from i to j; beyond its end, it is type 0, as released. Where
    there are several shortest paths the mean over all of them is taken; the released code takes the one that the order
    of the nodes prefers. Only categorical edge features count. With `token`, pairs with the token have a bias of their
    own. Returns the biases of `graph_attention`, by bucket.
    """

    def __init__(self, shapes: Shapes, heads: int, *, token: bool, use_edges: bool) -> None:
        super().__init__()
        if use_edges and (shapes.edge_type_counts or not shapes.edge_types):
            raise GraphTrialError("the edge bias of Graphormer needs one categorical edge feature: edge_features=false")
        self.heads = heads
        self.distance = _embedding(DISTANCES + 1, heads)
        self.edge = _embedding(shapes.edge_types, heads) if use_edges else None
        self.hop = nn.Parameter(torch.randn(DISTANCES, heads, heads) * STD) if use_edges else None
        self.token = nn.Parameter(torch.randn(1, heads) * STD) if token else None

    def forward(self, graph: GraphBatch) -> list[Tensor]:
        bias = self.between_nodes(graph)
        if self.token is None:
            return pair_blocks(graph, bias)
        tokens = add_tokens(graph)
        at = graph.cached("pairs of the token graph", lambda: _pairs_with_tokens(graph, tokens))
        sizes = graph.host_ptr.diff() + 1
        start = self.token.expand(int(sizes.square().sum()), -1)
        return pair_blocks(tokens.graph, start.index_copy(0, at, bias))

    def between_nodes(self, graph: GraphBatch) -> Tensor:
        """Return the bias of each pair of nodes, [pairs, heads]."""
        distance = shortest_path_distances(graph)
        kind = torch.where(distance < 0, DISTANCES, distance.clamp(max=DISTANCES - 1))
        bias: Tensor = self.distance(kind)
        if self.edge is not None and self.hop is not None:
            bias = bias + self._edge_bias(graph, bias) / kind.clamp(min=1).to(bias.dtype).unsqueeze(1)
        return bias

    def _edge_bias(self, graph: GraphBatch, like: Tensor) -> Tensor:
        paths = path_edges(graph, DISTANCES - 1)
        if graph.edge_attr is None:
            raise GraphTrialError("the batch lacks the edge features that this model was built for")
        table = torch.einsum("th,khg->ktg", cast(nn.Embedding, self.edge).weight, cast(Tensor, self.hop))
        types = graph.edge_attr.reshape(-1).long().index_select(0, paths.edge)
        beyond = table[:, 0]
        difference = (table - beyond.unsqueeze(1)).flatten(0, 1).index_select(0, paths.hop * table.shape[1] + types)
        return (
            beyond.sum(dim=0)
            .expand_as(like)
            .index_add(0, paths.pair, difference * paths.weight.to(like.dtype).unsqueeze(1))
        )


def _pairs_with_tokens(graph: GraphBatch, tokens: TokenGraph) -> Tensor:
    """Return the pair of the token graph of each pair of the graph."""
    row, column = pair_layout(graph).index
    return pair_index(tokens.graph, tokens.nodes[row], tokens.nodes[column])


def _embedding(types: int, width: int) -> nn.Embedding:
    table = nn.Embedding(types, width)
    nn.init.normal_(table.weight, std=STD)
    return table
