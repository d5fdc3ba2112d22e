"""GRIT, the graph inductive-bias transformer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.core.arguments import Depth, DropoutRate, Range, Width
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs import pair_walks
from graphtrial.graphs.pairs.complete import complete_graph, pair_index
from graphtrial.graphs.pairs.layout import check_pairs
from graphtrial.nn.graphgps.feed_forward import feed_forward
from graphtrial.nn.graphgps.head import Head, PredictionHead, SumOrMean
from graphtrial.nn.graphgps.inputs import EdgeInput, NodeFeatures, NodeInput
from graphtrial.nn.layers import BatchNorm, Dropout, Linear
from graphtrial.nn.position.encoder import PositionConfig
from graphtrial.nn.raw_features import require_level
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import aggregate, aggregate_messages, dropout, edge_add, edge_softmax, linear, modulated_relu

CLAMP = 5.0
STATES = 4
"""States of a pair that a layer computes: the modulation, two of them, the hidden one and the new one."""
Walks = Literal["from-target", "from-source"]


class GRITLayer(nn.Module):
    r"""GRIT layer, Ma et al. 2023 (arXiv:2305.17589), as released; for each head, i receives from j:

    .. math::
        \hat e_{ij} &= \mathrm{ReLU}\big(\rho((Q x_i + K x_j) \odot E_w e_{ij}) + E_b e_{ij}\big), \qquad
        \rho(s) = \mathrm{sign}(s) \sqrt{|s|} \\
        \alpha_{ij} &= \mathrm{softmax}_j \, \mathrm{clamp}(a \cdot \hat e_{ij}, \pm 5), \qquad
        o_i = \sum_j \alpha_{ij} V x_j + W \sum_j \alpha_{ij} \hat e_{ij}

    Then the degree scaler :math:`o_i \odot \theta_1 + \log(1 + d_i)\, o_i \odot \theta_2`, a linear layer, skip
    connection and batch norm, and a feed-forward block with the same; :math:`\hat e` likewise becomes the new pair
    state. The `last` layer leaves pairs unchanged, because nothing reads them. x: [nodes, width], e: [pairs, width] ->
    the same shapes; `full` is the complete graph, `log_degree` [nodes, 1] is that of the graph itself.
    """

    def __init__(self, width: int, heads: int, dropout: float, attention_dropout: float, *, last: bool) -> None:
        super().__init__()
        self.heads, self.size, self.last = heads, width // heads, last
        self.Q = Linear(width, width)
        self.K, self.V = Linear(width, width, bias=False), Linear(width, width, bias=False)
        self.E = Linear(width, 2 * width)
        self.score = nn.Parameter(torch.empty(self.size, heads, 1))
        self.pair_value = nn.Parameter(torch.empty(self.size, heads, self.size))
        self.degree = nn.Parameter(torch.empty(1, width, 2))
        for weight in (
            *(each.weight for each in (self.Q, self.K, self.V, self.E)),
            self.score,
            self.pair_value,
            self.degree,
        ):
            nn.init.xavier_normal_(weight)
        self.output, self.edge_output = Linear(width, width), Linear(width, width)
        self.attention_norm, self.edge_norm, self.norm = BatchNorm(width), BatchNorm(width), BatchNorm(width)
        self.feed_forward = feed_forward(width, "relu", dropout, last_dropout=False)
        self.dropout = Dropout(dropout)
        self.attention_dropout = attention_dropout

    def forward(self, full: GraphBatch, x: Tensor, e: Tensor, log_degree: Tensor) -> tuple[Tensor, Tensor]:
        shape = (-1, self.heads, self.size)
        check_pairs(full, STATES * x.shape[1] * x.element_size())
        hidden = modulated_relu(edge_add(full, self.K(x), self.Q(x)), self._modulation(e))
        scores = F.linear(hidden, self._score_weight()).clamp(-CLAMP, CLAMP)
        alpha = dropout(edge_softmax(full, scores), self.attention_dropout, self.training)
        attended = aggregate(full, self.V(x).view(len(x), *shape[1:]), "sum", alpha)
        summed = aggregate_messages(full, hidden.view(shape), weight=alpha)
        attended = attended + torch.einsum("nhd,dhc->nhc", summed, self.pair_value)
        out = self.dropout(attended.reshape(x.shape))
        first, second = self.degree[0].unbind(dim=1)
        out = self.attention_norm(x + self.output(out * (first + log_degree * second)))
        out = self.norm(out + self.feed_forward(out))
        if self.last:
            return out, e
        return out, self.edge_norm(e + self.edge_output(self.dropout(hidden)))

    def _modulation(self, e: Tensor) -> Tensor:
        """Return E_w e and E_b e side by side; the parameters have both of a head after both of the head before."""
        shape = (self.heads, 2, self.size, -1)
        weight, bias = (p.view(shape).transpose(0, 1).reshape(p.shape) for p in (self.E.weight, self.E.bias))
        return linear(e, weight, bias)

    def _score_weight(self) -> Tensor:
        """Return the score vectors as a block-diagonal matrix, [heads, width]: one product for all heads."""
        vectors = self.score.squeeze(2).T
        heads = torch.eye(self.heads, dtype=vectors.dtype, device=vectors.device)
        return (heads.unsqueeze(2) * vectors).flatten(1)


@MODELS.register("grit", title="GRIT")
class GRIT(nn.Module):
    """GRIT, Ma et al. 2023 (arXiv:2305.17589): attention over all ordered pairs of nodes with states of pairs.

    Relative random-walk probabilities (RRWP) of 0 to `walk_length` - 1 steps are mapped without bias and added to the
    node states (return probabilities) and to the pair states, which are edge embeddings, 0 where there is no edge.
    `walks` says whether the walk of the pair (i receives from j) starts at i, as in the code released since 2024, or at
    j, as in the code of the paper. Returns [graphs or nodes, outputs].
    """

    levels = ("graph", "node")
    as_published: ClassVar[Mapping[str, Any]] = {"walks": "from-source"}
    width_divisor = "heads"
    beyond_message_passing = True

    def __init__(
        self,
        shapes: Shapes,
        width: Width,
        layers: Depth = 10,
        heads: Annotated[int, Range(1, 256)] = 8,
        walk_length: Annotated[int, Range(1, 4096)] = 21,
        walks: Walks = "from-target",
        dropout: DropoutRate = 0.0,
        attention_dropout: DropoutRate = 0.2,
        edge_features: bool = False,
        node_features: NodeFeatures = "embedding",
        position_width: Annotated[int, Range(0, 4096)] = 0,
        readout: SumOrMean = "mean",
        head: Head = "graphgym",
        head_layers: Depth = 3,
        head_l2: bool = True,
    ) -> None:
        super().__init__()
        require_level("grit", shapes, self.levels)
        self.walk_length, self.walks = walk_length, walks
        self.node_input = NodeInput(shapes, width, PositionConfig(position_width), node_features)
        self.edge_input = EdgeInput(shapes, width, use_features=edge_features)
        self.node_walks = nn.Linear(walk_length, width, bias=False)
        self.pair_walks = Linear(walk_length, width, bias=False)
        nn.init.xavier_uniform_(self.node_walks.weight)
        nn.init.xavier_uniform_(self.pair_walks.weight)
        self.blocks = nn.ModuleList(
            GRITLayer(width, heads, dropout, attention_dropout, last=at == layers - 1) for at in range(layers)
        )
        self.head = PredictionHead(
            shapes, width, kind=head, layers=head_layers, l2=head_l2, readout=readout, dropout=dropout
        )

    def forward(self, graph: GraphBatch) -> Tensor:
        full, x = complete_graph(graph), self.node_input(graph)
        pairs = pair_walks(graph, self.walk_length, transposed=self.walks == "from-source", dtype=x.dtype)
        loops, at = graph.cached("pairs of nodes and edges", lambda: _pairs_of(graph))
        x = x + self.node_walks(pairs.index_select(0, loops))
        edges = self.edge_input(graph).expand(graph.num_edges, -1)
        e = self.pair_walks(pairs).to(edges.dtype).index_add(0, at, edges)
        log_degree = graph.in_degree.to(x.dtype).log1p().unsqueeze(1)
        for block in self.blocks:
            x, e = block(full, x, e, log_degree)
        out: Tensor = self.head(graph, x)
        return out


def _pairs_of(graph: GraphBatch) -> tuple[Tensor, Tensor]:
    """Return the pair (i, i) of each node and the pair (target, source) of each edge."""
    nodes = torch.arange(graph.num_nodes, device=graph.batch.device)
    return pair_index(graph, nodes, nodes), pair_index(graph, graph.edge_index[1], graph.edge_index[0])
