"""Input encoders of the GraphGPS family: node features concatenated with encoded positions, and edge features."""

from __future__ import annotations

from typing import Literal, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.encoder import SumEmbedding
from graphtrial.nn.position.encoder import PositionConfig, PositionEncoder
from graphtrial.nn.shapes import Shapes

NodeFeatures = Literal["embedding", "linear"]
"""Encoder of categorical node features: an embedding, or a linear layer of their one-hot vectors."""


class OneHotLinear(nn.Linear):
    """Linear layer of one-hot vectors, given as categories, as GraphGPS has it on PATTERN. [rows] -> [rows, width]."""

    def forward(self, values: Tensor) -> Tensor:
        return F.embedding(values, self.weight.T) + self.bias


class NodeInput(nn.Module):
    """Embedding or linear layer of node features, concatenated with the encoded positions.

    Where the encoding replaces the features, positions have the whole width. `kind` says how categorical features are
    encoded; `features` is the width of the features alone. Returns [nodes, width].
    """

    def __init__(self, shapes: Shapes, width: int, positions: PositionConfig, kind: NodeFeatures = "embedding") -> None:
        super().__init__()
        replaced = bool(shapes.encoding_dim and shapes.encoding_replaces)
        encoder = PositionEncoder(shapes, positions, width, fill=replaced)
        self.positions = encoder if encoder.width else None
        self.features = width - encoder.width
        self.feature: nn.Module | None = None
        if self.features and kind == "linear" and shapes.node_types and not shapes.node_type_counts:
            self.feature = OneHotLinear(shapes.node_types, self.features)
        elif self.features:
            counts, types = shapes.node_type_counts, shapes.node_types
            self.feature = feature_encoder(counts, types, shapes.node_dim, self.features, "node")

    def forward(self, graph: GraphBatch, shift: Tensor | None = None) -> Tensor:
        """Return the node states; `shift` [nodes, features] is added to the embedded features."""
        parts = []
        if self.feature is not None:
            x = encode_features(self.feature, graph.x)
            parts.append(x if shift is None else x + shift)
        if self.positions is not None:
            parts.append(self.positions(graph))
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)


class EdgeInput(nn.Module):
    """Embedding or linear layer of edge features; without `use_features` one learnable vector, [1, width].

    Returns [edges, width], or the vector as [1, width], to be broadcast.
    """

    def __init__(self, shapes: Shapes, width: int, *, use_features: bool) -> None:
        super().__init__()
        self.use_features = use_features
        if use_features:
            self.feature = feature_encoder(shapes.edge_type_counts, shapes.edge_types, shapes.edge_dim, width, "edge")
        else:
            self.feature = nn.Embedding(1, width)

    def forward(self, graph: GraphBatch) -> Tensor:
        if self.use_features:
            return encode_features(self.feature, graph.edge_attr)
        return cast(nn.Embedding, self.feature).weight


def feature_encoder(counts: tuple[int, ...], types: int, dim: int, width: int, subject: str) -> nn.Module:
    """Return the module that embeds categorical features or maps continuous ones to `width`."""
    if counts:
        return SumEmbedding(counts, width)
    if types:
        return nn.Embedding(types, width)
    if dim:
        return nn.Linear(dim, width)
    hint = "set edge_features=false" if subject == "edge" else "give the model a positional encoding that replaces them"
    raise GraphTrialError(f"these graphs have no {subject} features; {hint}")


def encode_features(module: nn.Module, values: Tensor | None) -> Tensor:
    """Apply the module of `feature_encoder` to a column of a batch."""
    if values is None:
        raise GraphTrialError("the batch lacks the feature column that this model was built for")
    if isinstance(module, nn.Embedding | OneHotLinear):
        rows = values.reshape(len(values)).long()
    else:
        rows = values.flatten(1) if values.dim() > 1 else values.unsqueeze(1)
        rows = rows.long() if isinstance(module, SumEmbedding) else rows.to(next(module.parameters()).dtype)
    out: Tensor = module(rows)
    return out
