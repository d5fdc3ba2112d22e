"""Vector field of a directional graph network: eigenvectors of the Laplacian, or coordinates of nodes."""

from __future__ import annotations

import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.encoder import ENCODING_COLUMN
from graphtrial.nn.position.encoder import EIGENPAIRS
from graphtrial.nn.shapes import Shapes

COORDINATES = 2


class Field:
    """Columns that directional aggregators take differences of: `columns` of the encoding, or the coordinates of nodes.

    Coordinates are the last two node features. Of eigenpairs the first, trivial eigenvector is left out.
    """

    def __init__(self, shapes: Shapes, columns: int, *, coordinates: bool) -> None:
        self.coordinates = coordinates
        self.columns = columns
        pairs = bool(shapes.encodings) and shapes.encodings[0].name == EIGENPAIRS
        self.first = 1 if pairs else 0
        available = shapes.encodings[0].width // 2 - 1 if pairs else shapes.encoding_dim
        if coordinates and shapes.node_dim < COORDINATES:
            raise GraphTrialError(
                "coordinates=true needs node features that end in two coordinates, as superpixels have"
            )
        if columns > (COORDINATES if coordinates else available):
            raise GraphTrialError(
                f"the directional aggregators of dgn need an encoding of at least {columns} eigenvectors: add "
                f"--encoding laplacian:{columns}, or use aggregators without dir"
            )

    def __call__(self, graph: GraphBatch, dtype: torch.dtype) -> Tensor:
        """Return the field, [nodes, columns]; 0 where a graph has no such eigenvector."""
        if not self.columns:
            return torch.zeros(graph.num_nodes, 0, dtype=dtype, device=graph.batch.device)
        column = graph.x if self.coordinates else graph.columns.get(ENCODING_COLUMN)
        if column is None:
            raise GraphTrialError("the batch lacks the column that dgn takes its directions from")
        values = column.flatten(1).to(dtype)
        start = values.shape[1] - COORDINATES if self.coordinates else self.first
        return values[:, start : start + self.columns].nan_to_num()
