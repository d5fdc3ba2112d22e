"""MLP from raw features of a node or a node pair to logits."""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.column import PAIRS
from graphtrial.nn.layers import FeatureLinear, Linear
from graphtrial.nn.raw_features import raw_node_features, raw_node_width, require_level
from graphtrial.nn.readout import pool
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import dropout, feature_linear, linear


@MODELS.register("mlp-direct", title="MLP (direct)")
class DirectMLP(nn.Module):
    r"""Structure-agnostic baseline of Wiki-CS: `layers` linear layers of the features with ReLU and dropout.

    .. math:: z_i = W_2 \, \mathrm{drop}(\mathrm{ReLU}(W_1 x_i + b_1)) + b_2

    For link tasks it reads the concatenated features of both nodes and is not symmetric. Without
    `first_activation` the first hidden layer has neither ReLU nor dropout, as in the released code: with one hidden
    layer the model is then linear. Returns [nodes, outputs], [pairs, outputs], or the mean over each graph.
    """

    levels = ("graph", "node", "pair")

    def __init__(
        self, shapes: Shapes, width: int, layers: int = 2, dropout: float = 0.0, first_activation: bool = True
    ) -> None:
        super().__init__()
        require_level("mlp-direct", shapes, self.levels)
        self.shapes = shapes
        self.dropout = dropout
        self.first_activation = first_activation
        ends = 2 if shapes.level == "pair" else 1
        sizes = [ends * raw_node_width(shapes), *[width] * (layers - 1), shapes.outputs]
        first, *rest = pairwise(sizes)
        self.maps = nn.ModuleList([FeatureLinear(*first), *(Linear(*pair) for pair in rest)])

    def forward(self, graph: GraphBatch) -> Tensor:
        x = raw_node_features(graph, self.shapes, next(self.parameters()).dtype)
        first = self.maps[0]
        x = _of_both_ends(graph, x, *first.parameters()) if self.shapes.level == "pair" else first(x)
        for i, following in enumerate(self.maps[1:]):
            if i or self.first_activation:
                x = dropout(x.relu(), self.dropout, self.training)
            x = following(x)
        return pool(graph, x, "mean") if self.shapes.level == "graph" else x


def _of_both_ends(graph: GraphBatch, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Linear layer on the concatenated features of both nodes of each pair, [pairs, width].

    With many pairs, its two halves are applied once per node instead of once per pair.
    """
    pairs = graph.columns.get(PAIRS)
    if pairs is None:
        raise GraphTrialError(f"this model scores pairs of nodes, but the batch has no column '{PAIRS}'")
    if 2 * len(pairs) < len(x):
        return linear(x.index_select(0, pairs.flatten()).reshape(len(pairs), -1), weight, bias)
    of_one, of_other = (feature_linear(x, half) for half in weight.chunk(2, dim=1))
    return of_one.index_select(0, pairs[:, 0]) + of_other.index_select(0, pairs[:, 1]) + bias
