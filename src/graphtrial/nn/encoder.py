"""Input encoders: embeddings of node and edge features at the model's width."""

from __future__ import annotations

from typing import cast

from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.layers import Linear
from graphtrial.nn.shapes import Shapes
from graphtrial.ops.recording import recordable

ENCODING_COLUMN = "encoding"


@recordable
def encoding_values(graph: GraphBatch) -> Tensor | None:
    """Return the encoding of each node, [nodes, width], zero where a small graph has no value (NaN); None without."""
    values = graph.columns.get(ENCODING_COLUMN)
    return None if values is None else zero_missing(values)


@recordable
def zero_missing(values: Tensor) -> Tensor:
    """Return the values with 0 in place of NaN."""
    return values.masked_fill(values.isnan(), 0)


class SumEmbedding(nn.Module):
    """Sum of one embedding per categorical column, as OGB's encoders of atoms and bonds. [rows, columns] -> width."""

    def __init__(self, counts: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(count, width) for count in counts)
        for table in self.tables:
            nn.init.xavier_uniform_(cast(nn.Embedding, table).weight)

    def forward(self, values: Tensor) -> Tensor:
        parts = [table(values[:, at]) for at, table in enumerate(self.tables)]
        return cast(Tensor, sum(parts[1:], parts[0]))


class NodeEncoder(nn.Module):
    """Embedding of categorical node features or linear layer of continuous ones; an encoding is added or replaces them.

    Of several categorical columns the embeddings are summed. Returns [nodes, width].
    """

    def __init__(self, shapes: Shapes, width: int) -> None:
        super().__init__()
        self.feature: nn.Module | None = None
        if not (shapes.encoding_dim and shapes.encoding_replaces):
            self.feature = _embedding(shapes.node_type_counts, shapes.node_types, shapes.node_dim, width, "node")
        self.encoding = Linear(shapes.encoding_dim, width) if shapes.encoding_dim else None

    def forward(self, graph: GraphBatch) -> Tensor:
        if self.encoding is None:
            return embed(self.feature, graph.x)
        position = embed(self.encoding, encoding_values(graph))
        return position if self.feature is None else embed(self.feature, graph.x) + position


class EdgeEncoder(nn.Module):
    """Embedding of categorical edge features or linear layer of continuous ones; without, one learnable vector for all.

    Returns [edges, width], or the learnable vector as [1, width] to be broadcast, because a tensor of all edges would
    be the largest of the model. The vector is a linear layer of ones of the feature's width, as in the reference, so
    that the parameter count on continuous features does not depend on `use_features`.
    """

    def __init__(self, shapes: Shapes, width: int, *, use_features: bool) -> None:
        super().__init__()
        self.use_features = use_features
        self.ones = shapes.edge_dim or shapes.edge_ones
        self.inputs = len(shapes.edge_type_counts) or shapes.edge_dim or 1
        if use_features:
            self.feature = _embedding(shapes.edge_type_counts, shapes.edge_types, shapes.edge_dim, width, "edge")
        else:
            self.feature = Linear(self.ones, width) if self.ones else nn.Embedding(1, width)

    def forward(self, graph: GraphBatch) -> Tensor:
        return embed(self.feature, graph.edge_attr) if self.use_features else self._one_vector()

    def first_type(self) -> Tensor:
        """Return the vector of a pair without an edge, [1, width]: of type 0, of zeros, or of any edge."""
        if not self.use_features:
            return self._one_vector()
        values = next(self.parameters()).new_zeros(1, self.inputs)
        return embed(self.feature, values)

    def _one_vector(self) -> Tensor:
        weight = next(self.parameters())
        return self.feature(weight.new_ones(1, self.ones)) if self.ones else weight


def _embedding(counts: tuple[int, ...], types: int, dim: int, width: int, subject: str) -> nn.Module:
    if counts:
        return SumEmbedding(counts, width)
    if types:
        return nn.Embedding(types, width)
    if dim:
        return Linear(dim, width)
    hint = "set edge_features=false" if subject == "edge" else "give the model a positional encoding or other data"
    raise GraphTrialError(f"these graphs have no {subject} features; {hint}")


def embed(module: nn.Module | None, values: Tensor | None) -> Tensor:
    """Apply an embedding or a module of continuous features to a column of a batch, [rows, ...] -> [rows, width]."""
    if module is None or values is None:
        raise GraphTrialError("the batch lacks the feature column that this model was built for")
    if isinstance(module, nn.Embedding):
        rows = values.reshape(len(values)).long()
    else:
        rows = values.flatten(1) if values.dim() > 1 else values.unsqueeze(1)
        rows = rows.long() if isinstance(module, SumEmbedding) else rows.to(next(module.parameters()).dtype)
    out: Tensor = module(rows)
    return out
