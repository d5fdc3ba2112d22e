"""GIN-epsilon, as in TUDataset."""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.gin_step import GINStack, GINStep
from graphtrial.nn.layers import BatchNorm, Dropout, Linear
from graphtrial.nn.readout import pool
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes


@MODELS.register("gin-eps", title="GIN-ε")
class GINEps(GINStack):
    r"""Graph isomorphism network, Xu et al. 2019 (arXiv:1810.00826), as in TUDataset (arXiv:2007.08663).

    .. math::
        h_i^{(l+1)} = \mathrm{MLP}_l\big((1 + \epsilon_l) h_i^{(l)} + \sum_{j \to i} h_j^{(l)}\big), \qquad
        \hat y = \mathrm{MLP}\big(\mathrm{readout}_i \, h_i^{(L)}\big)

    h^(0) are the raw features, categories one-hot; there are no residual connections. `jumping` concatenates the
    outputs of all layers before the readout (jumping knowledge, GIN-eps-JK); without `learn_epsilon`, epsilon is 0
    (GIN-0). Returns [graphs, outputs].
    """

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 3,
        dropout: float = 0.5,
        jumping: bool = False,
        learn_epsilon: bool = True,
        readout: Literal["mean", "sum"] = "mean",
    ) -> None:
        def step(in_width: int, edge_width: int) -> GINStep:
            return GINStep(two_layer_mlp(in_width, width), learn_epsilon=learn_epsilon)

        super().__init__("gin-eps", shapes, width, layers, step, jumping=jumping, edge_features=None)
        self.readout = readout
        self.head = classifier(self.state_width, width, shapes.outputs, dropout)

    def forward(self, graph: GraphBatch) -> Tensor:
        out: Tensor = self.head(pool(graph, self.node_states(graph), self.readout))
        return out


def two_layer_mlp(in_width: int, width: int) -> nn.Sequential:
    """Return the MLP of TUDataset's layers: two linear layers, each with ReLU, then batch norm."""
    return nn.Sequential(Linear(in_width, width), nn.ReLU(), Linear(width, width), nn.ReLU(), BatchNorm(width))


def classifier(in_width: int, width: int, outputs: int, dropout: float) -> nn.Sequential:
    """Return the head of TUDataset: linear, ReLU, dropout, linear."""
    return nn.Sequential(Linear(in_width, width), nn.ReLU(), Dropout(dropout), Linear(width, outputs))
