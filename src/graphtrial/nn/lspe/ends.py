"""Input and output of learnable positions."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.encoder import NodeEncoder, embed, encoding_values
from graphtrial.nn.layers import Linear
from graphtrial.nn.readout import pool
from graphtrial.nn.shapes import Shapes

NORM_EPS = 1e-6


class LSPEInput(nn.Module):
    """Node states from the features alone, and positions from the encoding, both [nodes, width].

    Where the encoding replaces the features, all nodes start with the same learnable state; without an encoding there
    are no positions.
    """

    def __init__(self, shapes: Shapes, width: int) -> None:
        super().__init__()
        self.position = nn.Linear(shapes.encoding_dim, width) if shapes.encoding_dim else None
        replaced = bool(shapes.encoding_dim and shapes.encoding_replaces)
        plain = shapes.features_only()
        self.feature: nn.Module = nn.Embedding(1, width) if replaced else NodeEncoder(plain, width)

    def forward(self, graph: GraphBatch) -> tuple[Tensor, Tensor | None]:
        if isinstance(self.feature, NodeEncoder):
            x = self.feature(graph)
        else:
            x = next(self.feature.parameters()).expand(graph.num_nodes, -1)
        return x, None if self.position is None else embed(self.position, encoding_values(graph))


class LSPEOutput(nn.Module):
    r"""Positions brought to the width of the encoding and merged with the node states.

    .. math:: q = W_p p, \qquad h' = W [h \,\|\, q]

    With `normalize` each column of q is centred and divided by its L2 norm in each graph first, with 1e-6 under the
    root, which the released GatedGCN and PNA lack (their constant columns are 0 / 0).
    x, p: [nodes, width] -> x: [nodes, width], q: [nodes, encoding_dim].
    """

    def __init__(self, width: int, encoding_dim: int, *, normalize: bool) -> None:
        super().__init__()
        self.normalize = normalize
        self.position = Linear(width, encoding_dim)
        self.merge = Linear(width + encoding_dim, width)

    def forward(self, graph: GraphBatch, x: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        q = self.position(p)
        if self.normalize:
            q = q - pool(graph, q, "mean").index_select(0, graph.batch)
            norm = (pool(graph, q.square(), "sum") + NORM_EPS).sqrt()
            q = q / norm.index_select(0, graph.batch)
        return self.merge(torch.cat([x, q], dim=1)), q
