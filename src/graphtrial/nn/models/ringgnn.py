"""RingGNN: equivariant linear layers on node pairs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated, Any

import torch
from torch import Tensor, nn

from graphtrial.core.arguments import Range
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs.buckets import Bucket, Plan
from graphtrial.nn.dense.checkpointing import MemoryNeeds
from graphtrial.nn.dense.model import DenseModel
from graphtrial.nn.dense.pair_input import Entries, Featureless
from graphtrial.nn.dense.readout import graph_sum, node_sum
from graphtrial.nn.dense.ring_layer import Contracted, RingLayer
from graphtrial.nn.head import PairMLP, halving_mlp
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes

DEFAULT_NODES = 25  # mean graph size where the data have none


@MODELS.register("ringgnn", title="RingGNN")
class RingGNN(DenseModel):
    r"""RingGNN of radius 2, Chen et al. 2019 (arXiv:1905.12560), as released with arXiv:2003.00982.

    .. math::
        H^{(l+1)} = \mathrm{RingLayer}_l(H^{(l)}) \in \mathbb{R}^{n \times n \times d}, \qquad
        \hat y = \mathrm{MLP}\big(\big\|_{l=0}^{L} \sum_{ij} H^{(l)}_{ij}\big), \quad
        \hat y_j = \mathrm{MLP}\big(\big\|_{l=0}^{L} \sum_i H^{(l)}_{ij}\big)

    Readout of graphs and nodes; edges are scored by an MLP on the concatenated node readouts of both endpoints.
    The weight of the matrix product is initialised as 0.5 / `average_nodes`; 0 stands for the mean size of the training
    graphs, rounded up. `outer_bias` trains the diagonal bias of the outer factor, which the released layer allocates
    but never uses. `featureless` is the diagonal of graphs with a single node type (see `PairInput`).
    """

    version = 2  # version 1 trained the outer bias and did not round the mean size
    padding_cost = 800

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 2,
        layer_norm: bool = False,
        residual: bool = False,
        edge_features: bool = False,
        dropout: float = 0.0,
        average_nodes: Annotated[float, Range(0, 1e9)] = 0.0,
        outer_bias: bool = False,
        featureless: Featureless = "zeros",
    ) -> None:
        needs = MemoryNeeds(layers, saved=(8 + 3 * layer_norm) * width, state=width, work=8 * width)
        super().__init__(shapes, width=width, edge_features=edge_features, featureless=featureless, needs=needs)
        nodes = average_nodes or math.ceil(shapes.mean_nodes) or DEFAULT_NODES
        options = {"layer_norm": layer_norm, "residual": residual, "outer_bias": outer_bias}
        inputs = [self.input.channels] + [width] * (layers - 1)
        self.layers = nn.ModuleList(
            RingLayer(d, width, product_weight=0.5 / nodes, dropout=dropout, **options) for d in inputs
        )
        joined = self.input.channels + layers * width
        self.head: Any = (
            PairMLP(halving_mlp(2 * joined, shapes.outputs))
            if self.level == "edge"
            else halving_mlp(joined, shapes.outputs)
        )

    def prepare(self, plan: Plan) -> list[Contracted]:
        layers: Iterable[Any] = self.layers
        return [layer.contracted() for layer in layers]

    def layer(self, at: int, h: Tensor | Entries, bucket: Bucket, prepared: Contracted) -> Tensor:
        out: Tensor = self.layers[at](h, bucket, prepared)
        return out

    def read(self, states: list[Tensor | Entries], bucket: Bucket) -> Tensor:
        pool = graph_sum if self.level == "graph" else node_sum
        return torch.cat([pool(h, bucket) for h in states], dim=1)

    def predict(self, graph: GraphBatch, rows: Tensor) -> Tensor:
        out: Tensor = self.head.score_edges(graph, rows) if self.level == "edge" else self.head(rows)
        return out
