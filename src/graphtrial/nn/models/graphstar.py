"""GraphStar: attention over neighbours and a virtual node (star)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.core.arguments import Width
from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.column import PAIRS
from graphtrial.nn.layers import FeatureLinear, Linear
from graphtrial.nn.raw_features import raw_node_features, raw_node_width, require_level
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import aggregate, edge_dot
from graphtrial.ops import dropout as drop
from graphtrial.ops.portable import full_precision

SCORE_DROPOUT = 0.5


@MODELS.register("graphstar", title="GraphStar")
class GraphStar(nn.Module):
    r"""Graph Star Net, Haonan et al. 2019 (arXiv:1906.12330), for links between the nodes of a single graph.

    .. math::
        h_i' = \mathrm{norm}\Big(h_i + \mathrm{ELU} \sum_{r} \sum_{j \in N_r(i)} \alpha_{ij} K_r h_j\Big), \quad
        \alpha_{ij} = \mathrm{softmax}_j \frac{Q h_i \cdot K_r h_j}{\sqrt{d}}, \qquad
        s_{ij} = \sum_k z_{ik} \, w_k \, z_{jk}

    The relations r are: neighbours, self-loop, and the star. The star attends to all nodes and to itself; it is
    initialised by attention over all nodes with their mean as query. Pairs are scored by DistMult, with dropout 0.5
    on z in training, as in the released code. Returns [pairs, 1].
    """

    levels = ("pair",)
    width_divisor = "heads"

    def __init__(self, shapes: Shapes, width: int, layers: int = 3, heads: Width = 4, dropout: float = 0.0) -> None:
        super().__init__()
        require_level("graphstar", shapes, self.levels)
        if shapes.outputs != 1:
            raise GraphTrialError("graphstar has one output per pair: use it for link prediction")
        self.shapes = shapes
        self.first = FeatureLinear(raw_node_width(shapes), width)
        self.star = Star(width, 1, dropout, residual=False)
        self.nodes = nn.ModuleList(Nodes(width, heads, dropout) for _ in range(layers))
        self.stars = nn.ModuleList(Star(width, heads, dropout, residual=True) for _ in range(layers - 1))
        self.relation = nn.Parameter(torch.empty(width).uniform_(-0.1, 0.1))

    def forward(self, graph: GraphBatch) -> Tensor:
        pairs = graph.columns.get(PAIRS)
        if pairs is None or graph.num_graphs != 1:
            raise GraphTrialError("graphstar scores the pairs of a single graph, which the column 'pairs' must name")
        z = drop(self.encode(graph), SCORE_DROPOUT, self.training)
        one, other = (z.index_select(0, end) for end in pairs.unbind(dim=1))
        return (one * other * self.relation).sum(dim=1, keepdim=True)

    def encode(self, graph: GraphBatch) -> Tensor:
        """Return node embeddings z, [nodes, width]."""
        x: Tensor = self.first(raw_node_features(graph, self.shapes, self.relation.dtype)).relu()
        star = self.star(x.mean(dim=0, keepdim=True), x)
        for i, nodes in enumerate(self.nodes):
            x = nodes(graph, x, star)
            if i < len(self.stars):  # the star is not used after the last layer
                star = self.stars[i](star, x)
        return x


class Nodes(nn.Module):
    """Each node attends to its neighbours, itself and the star. x: [nodes, width], star: [1, width] -> as x."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.query = Linear(width, width)
        self.of_neighbours, self.of_itself, self.of_star = (Linear(width, width) for _ in range(3))
        self.norm = nn.LayerNorm(width)

    def forward(self, graph: GraphBatch, x: Tensor, star: Tensor) -> Tensor:
        query, neighbour, self_loop, from_star = (
            part.view(len(part), self.heads, -1)
            for part in (self.query(x), self.of_neighbours(x), self.of_itself(x), self.of_star(star))
        )
        query = query / math.sqrt(query.shape[2])
        alpha, alpha_self, alpha_star = _softmax(
            graph, edge_dot(graph, query, neighbour), (query * self_loop).sum(dim=2), (query * from_star).sum(dim=2)
        )
        neighbour, self_loop = (drop(part, self.dropout, self.training) for part in (neighbour, self_loop))
        pooled = aggregate(graph, neighbour, "sum", alpha)
        pooled = pooled + alpha_self.unsqueeze(2) * self_loop + alpha_star.unsqueeze(2) * from_star
        out: Tensor = self.norm(x + F.elu(pooled.flatten(1)))
        return out


class Star(nn.Module):
    """The star attends to all nodes and, with `residual`, to itself. star: [1, width], x: [nodes, width] -> star."""

    def __init__(self, width: int, heads: int, dropout: float, *, residual: bool) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.residual = residual
        self.query, self.key, self.value = (Linear(width, width) for _ in range(3))
        self.norm = nn.LayerNorm(width)

    def forward(self, star: Tensor, x: Tensor) -> Tensor:
        source = torch.cat([x, star]) if self.residual else x
        query, key, value = (
            part.view(len(part), self.heads, -1) for part in (self.query(star), self.key(source), self.value(source))
        )
        alpha = ((query * key).sum(dim=2) / math.sqrt(query.shape[2])).softmax(dim=0)
        value = drop(value, self.dropout, self.training)
        pooled = F.elu((alpha.unsqueeze(2) * value).sum(dim=0, keepdim=True).flatten(1))
        out: Tensor = self.norm(pooled + star if self.residual else pooled)
        return out


@full_precision
def _softmax(graph: GraphBatch, neighbour: Tensor, self_loop: Tensor, star: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the joint softmax per target over in-edges [edges, heads], self-loop and star [nodes, heads]."""
    target = graph.edge_index[1]
    index = target.unsqueeze(1).expand_as(neighbour)
    with torch.no_grad():
        top = torch.maximum(self_loop, star).scatter_reduce(0, index, neighbour, "amax", include_self=True)
    neighbour = (neighbour - top.index_select(0, target)).exp()
    self_loop, star = (self_loop - top).exp(), (star - top).exp()
    total = (self_loop + star).index_add(0, target, neighbour)
    return neighbour / total.index_select(0, target), self_loop / total, star / total
