"""Base class of the models of GNN+: one message-passing layer per block, with feed-forward block and head."""

from __future__ import annotations

from typing import ClassVar, cast

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs import edge_walks
from graphtrial.nn.graphgps.activation import Activation, make_activation
from graphtrial.nn.graphgps.feed_forward import feed_forward
from graphtrial.nn.graphgps.head import Head, PredictionHead, SumOrMean
from graphtrial.nn.graphgps.inputs import EdgeInput, NodeFeatures, NodeInput
from graphtrial.nn.layers import BatchNorm, Dropout
from graphtrial.nn.position.encoder import PositionConfig
from graphtrial.nn.raw_features import require_level
from graphtrial.nn.shapes import Shapes


class FeedForwardBlock(nn.Module):
    """Batch norm, feed-forward block with skip connection, batch norm. x: [nodes, width] -> [nodes, width]."""

    def __init__(self, width: int, activation: Activation, dropout: float) -> None:
        super().__init__()
        self.first_norm = BatchNorm(width)
        self.feed_forward = feed_forward(width, activation, dropout)
        self.last_norm = BatchNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first_norm(x)
        out: Tensor = self.last_norm(x + self.feed_forward(x))
        return out


class PlusBlock(nn.Module):
    """conv -> batch norm -> activation -> dropout -> + input -> feed-forward block, each but the first optional.

    `activation` is that of the feed-forward block, `outer` that after the convolution, without which there is no
    dropout there either. `conv(graph, x, e)` returns node states. x: [nodes, width] -> [nodes, width]; e: [edges or 1,
    width] is passed on.
    """

    def __init__(
        self,
        conv: nn.Module,
        width: int,
        *,
        activation: Activation,
        outer: Activation | None,
        dropout: float,
        residual: bool,
        batch_norm: bool,
        ffn: bool,
    ) -> None:
        super().__init__()
        self.conv = conv
        self.norm = BatchNorm(width) if batch_norm else None
        self.act = nn.Sequential(make_activation(outer), Dropout(dropout)) if outer else nn.Identity()
        self.residual = residual
        self.ffn = FeedForwardBlock(width, activation, dropout) if ffn else None

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor) -> tuple[Tensor, Tensor]:
        new = self.conv(graph, x, e)
        new = self.act(new if self.norm is None else self.norm(new))
        if self.residual:
            new = x + new
        return new if self.ffn is None else self.ffn(new), e


class PlusModel(nn.Module):
    """Input encoders, blocks and head of GNN+, Luo et al. 2025 (arXiv:2502.09263), and of GraphGPS's own GNNs.

    `edge_walk` K adds a linear layer of the probabilities of random walks of 1 to K steps along each edge to the edge
    states, which the released code counts as part of RWSE. Each of `blocks` takes (graph, x, e) and returns (x, e).
    """

    levels: ClassVar[tuple[str, ...]] = ("graph", "node")

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        blocks: list[nn.Module],
        *,
        dropout: float,
        activation: Activation,
        edge_features: bool,
        edge_walk: int,
        node_features: NodeFeatures,
        position_width: int,
        readout: SumOrMean,
        head: Head,
        head_layers: int,
        head_l2: bool,
    ) -> None:
        super().__init__()
        require_level(type(self).__name__, shapes, self.levels)
        self.node_input = NodeInput(shapes, width, PositionConfig(position_width), node_features)
        self.edge_input = EdgeInput(shapes, width, use_features=edge_features)
        self.edge_walk = nn.Linear(edge_walk, width) if edge_walk else None
        self.blocks = nn.ModuleList(blocks)
        self.head = PredictionHead(
            shapes,
            width,
            kind=head,
            layers=head_layers,
            l2=head_l2,
            readout=readout,
            activation=activation,
            dropout=dropout,
        )

    def forward(self, graph: GraphBatch) -> Tensor:
        x, e = self.node_input(graph), self.edge_input(graph)
        if self.edge_walk is not None:
            e = e + self.edge_walk(edge_walks(graph, self.edge_walk.in_features, dtype=x.dtype))
        for block in self.blocks:
            x, e = block(graph, x, e)
        return cast(Tensor, self.head(graph, x))
