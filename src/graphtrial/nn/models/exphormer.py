"""Exphormer: message passing in parallel with sparse attention over edges, an expander and virtual nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from graphtrial.core.arguments import Depth, DropoutRate, Range, Width
from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs import expander_edges
from graphtrial.graphs.self_loops import replace_edges
from graphtrial.nn.attention.clamped import CLAMP, EPS
from graphtrial.nn.graphgps.feed_forward import feed_forward
from graphtrial.nn.graphgps.gated import GatedLayer
from graphtrial.nn.graphgps.head import Head, PredictionHead, SumOrMean
from graphtrial.nn.graphgps.inputs import EdgeInput, NodeFeatures, NodeInput
from graphtrial.nn.layers import BatchNorm, Dropout, Linear
from graphtrial.nn.position.encoder import PositionConfig, stable_positions
from graphtrial.nn.raw_features import require_level
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import clamped_attention
from graphtrial.ops.sparse_matrix import SparseMatrix, adjacency, virtual_membership


class SparseAttention(nn.Module):
    r"""Attention over given edges and virtual nodes, Shirzad et al. 2023 (arXiv:2303.06147).

    .. math:: o_i = \frac{\sum_j w_{ij} V x_j}{\sum_j w_{ij} + 10^{-6}}, \qquad
        w_{ij} = \exp\big(\mathrm{clamp}(\textstyle\sum Q x_i \odot K x_j \odot E e_{ij} / \sqrt{d}, \pm 5)\big)

    No biases and no output projection, as released. `parts` are graphs with the states of their edges, [edges or 1,
    width]. virtual: [graphs, k, width]; `to_virtual`, `from_virtual`: edge states of virtual nodes, [k, width].
    x: [nodes, width] -> [nodes, width], and the new virtual states.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.Q, self.K, self.E, self.V = (Linear(width, width, bias=False) for _ in range(4))

    def forward(
        self,
        graph: GraphBatch,
        x: Tensor,
        parts: list[tuple[GraphBatch, Tensor]],
        virtual: Tensor,
        to_virtual: Tensor,
        from_virtual: Tensor,
    ) -> tuple[Tensor, Tensor]:
        scale = (x.shape[1] // self.heads) ** -0.5
        query, key, value = self.Q(x) * scale, self.K(x), self.V(x)
        out, norm = torch.zeros_like(value).unflatten(1, (self.heads, -1)), value.new_zeros(len(x), self.heads)
        sums = [self._attend(adjacency(edges), query, key, value, self.E(states)) for edges, states in parts]
        if virtual.shape[1]:
            flat, members = virtual.flatten(0, 1), virtual_membership(graph, virtual.shape[1])
            to_query, from_key = self.Q(flat) * scale, self.K(flat)
            new = self._attend(members, _modulated(to_query, self.E(to_virtual)), key, value)
            from_key = _modulated(from_key, self.E(from_virtual))
            sums.append(self._attend(members.transpose(), query, from_key, self.V(flat)))
            virtual = _normalized(*new).view(virtual.shape)
        for of_out, of_norm in sums:
            out, norm = out + of_out, norm + of_norm
        return _normalized(out, norm), virtual

    def _attend(
        self, matrix: SparseMatrix, query: Tensor, key: Tensor, value: Tensor, edge: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the sums of `clamped_attention`; edge: states [entries, width], or [1, width] of all entries."""
        if edge is not None and len(edge) == 1:
            query, edge = query * edge, None
        query, key, value = (x.unflatten(1, (self.heads, -1)) for x in (query, key, value))
        edge = None if edge is None else edge.unflatten(1, (self.heads, -1))
        return clamped_attention(matrix, query, key, value, CLAMP, edge)


def _modulated(x: Tensor, edge: Tensor) -> Tensor:
    """Multiply states of virtual nodes, [graphs * k, width], by those of their edges, [k, width]."""
    return (x.view(-1, *edge.shape) * edge).flatten(0, 1)


def _normalized(out: Tensor, norm: Tensor) -> Tensor:
    return (out / (norm + EPS).unsqueeze(2)).flatten(1)


class ExphormerLayer(nn.Module):
    """GatedGCN in parallel with sparse attention, each with batch norm, summed, and a feed-forward block."""

    def __init__(self, width: int, heads: int, dropout: float, *, stable: bool, last: bool) -> None:
        super().__init__()
        self.local = GatedLayer(width, dropout, stable=stable, last=last)
        self.attention = SparseAttention(width, heads)
        self.local_norm, self.attention_norm, self.norm = BatchNorm(width), BatchNorm(width), BatchNorm(width)
        self.dropout = Dropout(dropout)
        self.feed_forward = feed_forward(width, "relu", dropout)

    def forward(
        self,
        graph: GraphBatch,
        x: Tensor,
        e: Tensor,
        position: Tensor | None,
        parts: list[tuple[GraphBatch, Tensor]],
        virtual: Tensor,
        to_virtual: Tensor,
        from_virtual: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        local, e = self.local(graph, x, e, position)
        attended, virtual = self.attention(graph, x, parts, virtual, to_virtual, from_virtual)
        h = self.local_norm(local) + self.attention_norm(x + self.dropout(attended))
        return self.norm(h + self.feed_forward(h)), e, virtual


@MODELS.register("exphormer", title="Exphormer")
class Exphormer(nn.Module):
    """Exphormer, Shirzad et al. 2023 (arXiv:2303.06147).

    Attention goes over the edges (`attend_edges`), an expander of degree 2 x `expander_degree` and `virtual_nodes`
    nodes linked to all others; its edge states are those of the input. The expander of a graph is drawn by its edges
    and `expander_seed`, the same for all seeds of trials: beyond 10 nodes, predictions depend on the order of the
    nodes. The released code keeps the loops of expanders (`expander_loops`), which the paper says are removed.
    Eigenpairs (`eigen_encoder` "stable") gate the message passing; with "deepset" they are node features.
    Returns [graphs or nodes, outputs].
    """

    levels = ("graph", "node")
    version = 2
    as_published: ClassVar[Mapping[str, Any]] = {"expander_loops": True}
    width_divisor = "heads"
    beyond_message_passing = True

    def __init__(
        self,
        shapes: Shapes,
        width: Width,
        layers: Depth = 5,
        heads: Annotated[int, Range(1, 256)] = 4,
        dropout: DropoutRate = 0.1,
        expander: Literal["permutations", "none", "hamiltonian"] = "permutations",
        expander_degree: Annotated[int, Range(1, 1000)] = 5,
        expander_seed: Annotated[int, Range(0, 2**31 - 1)] = 0,
        expander_loops: bool = False,
        virtual_nodes: Annotated[int, Range(0, 1000)] = 1,
        attend_edges: bool = True,
        edge_features: bool = False,
        node_features: NodeFeatures = "embedding",
        position_width: Annotated[int, Range(0, 4096)] = 0,
        eigen_encoder: Literal["stable", "deepset"] = "stable",
        readout: SumOrMean = "mean",
        head: Head = "graphgym",
        head_layers: Depth = 3,
        head_l2: bool = True,
    ) -> None:
        super().__init__()
        require_level("exphormer", shapes, self.levels)
        if expander == "none" and not virtual_nodes and not attend_edges:
            raise GraphTrialError("exphormer attends to nothing: use an expander, virtual_nodes or attend_edges=true")
        positions = PositionConfig(position_width, 0, eigen_encoder, gates=True)
        self.node_input = NodeInput(shapes, width, positions, node_features)
        self.edge_input = EdgeInput(shapes, width, use_features=edge_features)
        self.stable = stable_positions(shapes, positions, width)
        self.expander, self.expander_degree, self.expander_seed = expander, expander_degree, expander_seed
        self.expander_loops = expander_loops
        self.attend_edges = attend_edges
        self.expander_edge = nn.Embedding(1, width)
        self.virtual, self.to_virtual, self.from_virtual = (
            nn.Parameter(torch.randn(virtual_nodes, width)) for _ in range(3)
        )
        self.blocks = nn.ModuleList(
            ExphormerLayer(width, heads, dropout, stable=self.stable is not None, last=at == layers - 1)
            for at in range(layers)
        )
        self.head = PredictionHead(
            shapes, width, kind=head, layers=head_layers, l2=head_l2, readout=readout, dropout=dropout
        )

    def forward(self, graph: GraphBatch) -> Tensor:
        x, e = self.node_input(graph), self.edge_input(graph)
        position = None if self.stable is None else self.stable(graph)
        parts = [(graph, e)] if self.attend_edges else []
        if self.expander != "none":
            parts.append((self._expander(graph), self.expander_edge.weight))
        virtual = self.virtual.expand(graph.num_graphs, -1, -1)
        for block in self.blocks:
            x, e, virtual = block(graph, x, e, position, parts, virtual, self.to_virtual, self.from_virtual)
        out: Tensor = self.head(graph, x)
        return out

    def _expander(self, graph: GraphBatch) -> GraphBatch:
        """Return the batch with the edges of the expanders instead of its own."""
        given = (self.expander_degree, self.expander_seed)
        loops, hamiltonian = self.expander_loops, self.expander == "hamiltonian"

        def compute() -> GraphBatch:
            source, target = expander_edges(graph, *given, self_loops=loops, hamiltonian=hamiltonian)
            return replace_edges(graph, source, target)[0]

        return graph.cached(f"expander graph {given} {loops} {hamiltonian}", compute)
