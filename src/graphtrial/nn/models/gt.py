"""Graph transformer."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.core.arguments import DropoutRate, NonNegativeInt, Width
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.degree_roles import degree_roles
from graphtrial.graphs.pairs.without_loops import complete_without_loops
from graphtrial.nn.attention.clamped import channel_scores, clamped_exponential, dot_scores, weighted_mean
from graphtrial.nn.attention.transformer_block import Norm, PostNormBlock
from graphtrial.nn.encoder import EdgeEncoder, NodeEncoder
from graphtrial.nn.head import make_head
from graphtrial.nn.layers import Linear
from graphtrial.nn.readout import Readout
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import ALL_LEVELS, Shapes


class GTLayer(nn.Module):
    r"""Layer of the graph transformer, Dwivedi and Bresson 2021 (arXiv:2012.09699), as released.

    .. math::
        s_{ji} = \tfrac{1}{\sqrt{d}} Q h_i \odot K h_j \; [\odot \, E e_{ji}], \qquad
        w_{ji} = \exp \, \mathrm{clamp}_{\pm 5} \textstyle\sum s_{ji}, \qquad
        \hat h_i = \frac{\sum_{j \to i} w_{ji} V h_j}{\sum_{j \to i} w_{ji} + \epsilon}, \qquad
        \hat e_{ji} = s_{ji}

    per head, without biases; :math:`\epsilon` is 1e-6 with edge states and 0 without. Then `PostNormBlock` of both. The
    `last` layer leaves edge states unchanged, because no layer reads them.
    x: [nodes, width] and, with edge states, e: [edges, width] -> the same shapes.
    """

    def __init__(self, width: int, heads: int, *, edge_states: bool, last: bool, norm: Norm, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.last = last
        self.Q, self.K, self.V = (Linear(width, width, bias=False) for _ in range(3))
        self.E = Linear(width, width, bias=False) if edge_states else None
        self.node_block = PostNormBlock(width, norm, dropout)
        self.edge_block = PostNormBlock(width, norm, dropout) if edge_states else None

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        query, key, value = (linear(x).unflatten(1, (self.heads, -1)) for linear in (self.Q, self.K, self.V))
        if self.E is None or self.edge_block is None or e is None:
            weight = clamped_exponential(dot_scores(graph, query, key))
            return self.node_block(weighted_mean(graph, weight, value, eps=0.0), x), e
        channels = channel_scores(graph, query, key, self.E(e).unflatten(1, (self.heads, -1)))
        weight = clamped_exponential(channels.sum(dim=2))
        new_e = e if self.last else self.edge_block(channels.flatten(1), e)
        return self.node_block(weighted_mean(graph, weight, value), x), new_e


@MODELS.register("gt", title="GT")
class GT(nn.Module):
    """Graph transformer, Dwivedi and Bresson 2021 (arXiv:2012.09699), as released.

    Attention goes along edges, or with `full_graph` between all nodes of a graph, which then all have edge type 0.
    `edge_states` gives every edge a state that the layers update; it starts from `edge_features`, which imply it, or
    from one vector for all. An encoding is added to the node embedding. `degree_roles` is the number of rows of the
    embedding of the "WL" encoding, which is the rank of a node's degree (see `graphs.degree_roles`); 0 for none.
    Returns the logits [rows, outputs] of graphs, nodes, edges or pairs.
    """

    levels = ALL_LEVELS
    width_divisor = "heads"

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 10,
        heads: Width = 8,
        edge_features: bool = False,
        edge_states: bool = False,
        full_graph: bool = False,
        degree_roles: NonNegativeInt = 0,
        norm: Norm = "batch",
        dropout: DropoutRate = 0.0,
        readout: Readout = "mean",
    ) -> None:
        super().__init__()
        self.full_graph = full_graph
        self.node_encoder = NodeEncoder(shapes, width)
        self.roles = nn.Embedding(degree_roles, width) if degree_roles else None
        states = edge_states or edge_features
        self.edge_encoder = EdgeEncoder(shapes, width, use_features=edge_features) if states else None
        self.blocks = nn.ModuleList(
            GTLayer(width, heads, edge_states=states, last=at == layers - 1, norm=norm, dropout=dropout)
            for at in range(layers)
        )
        self.head = make_head(shapes, width, layers, readout=readout, layer_heads=False)

    def forward(self, graph: GraphBatch) -> Tensor:
        x = self.node_encoder(graph)
        if self.roles is not None:
            x = x + self.roles(degree_roles(graph).clamp(max=self.roles.num_embeddings - 1))
        attended = complete_without_loops(graph) if self.full_graph else graph
        e = None
        if self.edge_encoder is not None:
            e = self.edge_encoder.first_type() if self.full_graph else self.edge_encoder(graph)
            e = e.expand(attended.num_edges, -1)
        for block in self.blocks:
            x, e = block(attended, x, e)
        out: Tensor = self.head(graph, [x])
        return out
