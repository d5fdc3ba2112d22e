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

SCORE_DROPOUT = 0.5


@MODELS.register("graphstar", title="GraphStar")
class GraphStar(nn.Module):
    r"""Graph Star Net, Haonan et al. 2019 (arXiv:1906.12330), for links between the nodes of a single graph.

    .. math::
        h_i' = \mathrm{norm}\Big(h_i + \mathrm{ELU} \sum_{r} \sum_{j \in N_r(i)} \alpha_{ij} K_r h_j\Big), \quad
        \alpha_{ij} = \mathrm{softmax}_j \frac{Q h_i \cdot K_r h_j}{\sqrt{d}}, \qquad
        s_{ij} = \sum_k z_{ik} \, w_k \, z_{jk}

    The relations r are: neighbours, the node itself, and the star. The star attends to all nodes and to itself, and
    begins as what attends to all nodes by their mean. Pairs are scored by DistMult; half of z is dropped there while
    training, as in the released code. Returns [pairs, 1].
    """

    levels = ("pair",)
    width_divisor = "heads"

    def __init__(self, shapes: Shapes, width: int, layers: int = 3, heads: Width = 4, dropout: float = 0.0) -> None:
        super().__init__()
        require_level("graphstar", shapes, self.levels)
        if shapes.outputs != 1:
            raise GraphTrialError("graphstar gives one number for a pair")
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
        """Return the vector of each node, [nodes, width]."""
        x: Tensor = self.first(raw_node_features(graph, self.shapes, self.relation.dtype)).relu()
        star = self.star(x.mean(dim=0, keepdim=True), x)
        for i, nodes in enumerate(self.nodes):
            x = nodes(graph, x, star)
            if i < len(self.stars):  # after the last layer nobody reads the star
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
        query, near, own, far = (
            part.view(len(part), self.heads, -1)
            for part in (self.query(x), self.of_neighbours(x), self.of_itself(x), self.of_star(star))
        )
        query = query / math.sqrt(query.shape[2])
        alpha, alpha_self, alpha_star = _softmax(
            graph, edge_dot(graph, query, near), (query * own).sum(dim=2), (query * far).sum(dim=2)
        )
        near, own = (drop(part, self.dropout, self.training) for part in (near, own))
        pooled = aggregate(graph, near, "sum", alpha) + alpha_self.unsqueeze(2) * own + alpha_star.unsqueeze(2) * far
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
        seen = torch.cat([x, star]) if self.residual else x
        query, key, value = (
            part.view(len(part), self.heads, -1) for part in (self.query(star), self.key(seen), self.value(seen))
        )
        alpha = ((query * key).sum(dim=2) / math.sqrt(query.shape[2])).softmax(dim=0)
        value = drop(value, self.dropout, self.training)
        pooled = F.elu((alpha.unsqueeze(2) * value).sum(dim=0, keepdim=True).flatten(1))
        out: Tensor = self.norm(pooled + star if self.residual else pooled)
        return out


def _softmax(graph: GraphBatch, near: Tensor, own: Tensor, far: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the softmax over in-edges [edges, heads], the node itself and the star [nodes, heads] together."""
    target = graph.edge_index[1]
    place = target.unsqueeze(1).expand_as(near)
    with torch.no_grad():
        top = torch.maximum(own, far).scatter_reduce(0, place, near, "amax", include_self=True)
    near, own, far = (near - top.index_select(0, target)).exp(), (own - top).exp(), (far - top).exp()
    total = (own + far).index_add(0, target, near)
    return near / total.index_select(0, target), own / total, far / total
