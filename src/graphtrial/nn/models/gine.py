"""GINE-epsilon, as in TUDataset."""

from __future__ import annotations

from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.nn.gin_step import GINStack, GINStep
from graphtrial.nn.models.gin_eps import classifier, two_layer_mlp
from graphtrial.nn.readout import pool
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes


@MODELS.register("gine", title="GINE-ε")
class GINE(GINStack):
    r"""GIN with edge features, Hu et al. 2020 (arXiv:1905.12265), as in TUDataset (arXiv:2007.08663).

    .. math::
        h_i^{(l+1)} = \mathrm{MLP}_l\big((1 + \epsilon_l) h_i^{(l)}
            + \sum_{j \to i} \mathrm{ReLU}(h_j^{(l)} + \mathrm{enc}_l(f_{ji}))\big), \qquad
        \hat y = \mathrm{MLP}\big(\mathrm{mean}_i \, h_i^{(L)}\big)

    h^(0) and f are the raw node and edge features, categories one-hot; enc_l is an MLP to the width of h^(l). `jumping`
    concatenates the outputs of all layers before the readout (GINE-eps-JK). Without `edge_features` f is constant.
    Returns [graphs, outputs].
    """

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 3,
        dropout: float = 0.5,
        jumping: bool = False,
        learn_epsilon: bool = True,
        edge_features: bool = True,
    ) -> None:
        def step(in_width: int, edge_width: int) -> GINStep:
            mlp, encoder = two_layer_mlp(in_width, width), two_layer_mlp(edge_width, in_width)
            return GINStep(mlp, encoder, learn_epsilon=learn_epsilon)

        super().__init__("gine", shapes, width, layers, step, jumping=jumping, edge_features=edge_features)
        self.head = classifier(self.state_width, width, shapes.outputs, dropout)

    def forward(self, graph: GraphBatch) -> Tensor:
        out: Tensor = self.head(pool(graph, self.node_states(graph), "mean"))
        return out
