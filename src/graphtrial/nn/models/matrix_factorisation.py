"""Matrix factorization: a learnt embedding per node."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.head import PairHead
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes


@MODELS.register("matrix-factorisation", title="Matrix factorization")
class MatrixFactorisation(nn.Module):
    r"""Learnt node embeddings and an MLP on node pairs: OGB's matrix factorization baseline for link prediction.

    .. math:: s_{ij} = \mathrm{MLP}([z_i \,\|\, z_j])

    Uses neither features nor edges; transductive, for a dataset of one graph. Returns [pairs, outputs].
    """

    levels = ("pair",)
    single_graph = True

    def __init__(self, shapes: Shapes, width: int) -> None:
        super().__init__()
        if shapes.level != "pair" or not shapes.num_nodes:
            raise GraphTrialError("matrix-factorisation predicts links between the nodes of a dataset of one graph")
        self.table = nn.Embedding(shapes.num_nodes, width)
        self.head = PairHead(width, shapes.outputs)

    def forward(self, graph: GraphBatch) -> Tensor:
        if graph.num_nodes != self.table.num_embeddings:
            raise GraphTrialError(
                f"matrix-factorisation has {self.table.num_embeddings} nodes, the batch {graph.num_nodes}"
            )
        out: Tensor = self.head(graph, [self.table.weight])
        return out
