"""Vector field of a directional graph network: eigenvectors of the Laplacian, or coordinates of nodes."""

from __future__ import annotations

from itertools import accumulate

import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.position.encoder import EIGENPAIRS, EIGENVECTORS, encoding_of, encoding_parts
from graphtrial.nn.shapes import Shapes

COORDINATES = 2


class Field:
    """Columns that directional aggregators take differences of: `columns` of the encoding, or the coordinates of nodes.

    Coordinates are the last two node features. The part of the encoding with eigenvectors is taken, or one without a
    name; of eigenpairs the first, trivial eigenvector is left out. Further eigenvectors of that part are not read, as
    released. `others` are the columns of the other parts.
    """

    def __init__(self, shapes: Shapes, columns: int, *, coordinates: bool) -> None:
        self.coordinates = coordinates
        self.columns = columns
        parts = encoding_parts(shapes)
        starts = list(accumulate((part.width for part in parts), initial=0))
        given = [at for at, part in enumerate(parts) if part.name in (*EIGENVECTORS, "")]
        used = given[0] if given and columns and not coordinates else None
        pairs = used is not None and parts[used].name == EIGENPAIRS
        available = 0 if used is None else parts[used].width // 2 - 1 if pairs else parts[used].width
        if coordinates and shapes.node_dim < COORDINATES:
            raise GraphTrialError(
                "coordinates=true needs node features that end in two coordinates, as superpixels have"
            )
        if columns > (COORDINATES if coordinates else available):
            raise GraphTrialError(
                f"the directional aggregators of dgn need an encoding of at least {columns} eigenvectors: add "
                f"--encoding laplacian:{columns}, or use aggregators without dir"
            )
        self.first = 0 if used is None else starts[used] + pairs
        self.others = [
            column
            for at, part in enumerate(parts)
            if at != used
            for column in range(starts[at], starts[at] + part.width)
        ]

    def __call__(self, graph: GraphBatch, dtype: torch.dtype) -> Tensor:
        """Return the field, [nodes, columns]; 0 where a graph has no such eigenvector."""
        if not self.columns:
            return torch.zeros(graph.num_nodes, 0, dtype=dtype, device=graph.batch.device)
        if not self.coordinates:
            return encoding_of(graph, dtype)[:, self.first : self.first + self.columns].nan_to_num()
        if graph.x is None:
            raise GraphTrialError("the batch lacks the column that dgn takes its directions from")
        values = graph.x.flatten(1).to(dtype)
        return values[:, values.shape[1] - COORDINATES :][:, : self.columns].nan_to_num()

    def other_columns(self, graph: GraphBatch, dtype: torch.dtype) -> Tensor:
        """Return the columns of the other parts of the encoding, 0 where missing."""
        return encoding_of(graph, dtype)[:, self.others].nan_to_num()
