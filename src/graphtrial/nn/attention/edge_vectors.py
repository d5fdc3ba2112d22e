"""Edge vectors of SAN: of edges by their features, and of pairs without an edge."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.encoder import EdgeEncoder
from graphtrial.nn.shapes import Shapes


class PairEncoder(nn.Module):
    """Embedding of edges, and of pairs without an edge, which have category 0 of the same table, as in SAN.

    Without `use_features` the table has two rows, for pairs without and with an edge. Returns the vectors of edges,
    [edges or 1, width], and of other pairs, [1, width].
    """

    def __init__(self, shapes: Shapes, width: int, *, use_features: bool) -> None:
        super().__init__()
        self.encoder: nn.Module = (
            EdgeEncoder(shapes, width, use_features=True) if use_features else nn.Embedding(2, width)
        )

    def forward(self, graph: GraphBatch) -> tuple[Tensor, Tensor]:
        if isinstance(self.encoder, EdgeEncoder):
            return self.encoder(graph), self.encoder.first_type()
        without, of_edges = next(self.encoder.parameters()).split(1)
        return of_edges, without
