"""Encoder, blocks, readout, head: every message-passing model of the papers is this one with another layer."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.block import Block
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.encoder import EdgeEncoder, NodeEncoder
from graphtrial.nn.head import halving_mlp
from graphtrial.nn.readout import pool
from graphtrial.nn.shapes import Shapes


class GNN(nn.Module):
    """A stack of `layers` blocks around one kind of layer, after Dwivedi et al. 2022 (arXiv:2003.00982), appendix B.

    Returns [graphs, outputs]. `convs` are the bare layers, one per block, all of the same `width`.
    """

    def __init__(
        self,
        shapes: Shapes,
        convs: list[Conv],
        *,
        width: int,
        dropout: float,
        batch_norm: bool,
        residual: bool,
        readout: str,
        layer_heads: bool,
        edge_features: bool,
    ) -> None:
        super().__init__()
        if shapes.level != "graph":
            raise GraphTrialError(f"this model answers questions about graphs, not about {shapes.level}s")
        self.readout = readout
        self.node_encoder = NodeEncoder(shapes, width)
        uses_edges = any(conv.edge_state for conv in convs)
        self.edge_encoder = EdgeEncoder(shapes, width, use_features=edge_features) if uses_edges else None
        self.blocks = nn.ModuleList(
            Block(conv, width, batch_norm=batch_norm, residual=residual, dropout=dropout) for conv in convs
        )
        self.heads = nn.ModuleList(
            [nn.Linear(width, shapes.outputs) for _ in range(len(convs) + 1)]
            if layer_heads
            else [halving_mlp(width, shapes.outputs)]
        )

    def forward(self, graph: GraphBatch) -> Tensor:
        x = self.node_encoder(graph)
        e = self.edge_encoder(graph) if self.edge_encoder is not None else None
        states = [x]
        for block in self.blocks:
            x, e = block(graph, x, e)
            states.append(x)
        heard = states[-len(self.heads) :]  # one MLP hears the last state, heads per layer hear all
        answers = [head(pool(graph, state, self.readout)) for head, state in zip(self.heads, heard, strict=True)]
        return sum(answers[1:], answers[0])
