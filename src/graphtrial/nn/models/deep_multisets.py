"""Structure-free baselines of a fair comparison: deep multisets and molecular fingerprints."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.layers import Linear
from graphtrial.nn.raw_features import raw_node_features, raw_node_width, require_level
from graphtrial.nn.readout import pool
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes


@MODELS.register("deep-multisets", title="DeepMultisets")
class DeepMultisets(nn.Module):
    r"""Structure-free baselines of Errica et al. 2020 (arXiv:1912.09893): the multiset of node features, no edges.

    .. math::
        \hat y = W_2 \, \mathrm{ReLU}\Big(W_1 \sum_i \mathrm{ReLU}(W_0 x_i + b_0) + b_1\Big) + b_2

    x are the raw features, categories one-hot, with the encoding; `degree:K` as in the paper's social networks. Without
    `node_layer` it is their molecular fingerprint, an MLP on the sums of the features themselves; its logits have no
    ReLU, which the released code has. Returns [graphs, outputs].
    """

    levels = ("graph",)

    def __init__(self, shapes: Shapes, width: int, node_layer: bool = True) -> None:
        super().__init__()
        require_level("deep-multisets", shapes, self.levels)
        self.shapes = shapes
        features = raw_node_width(shapes)
        self.node_layer = Linear(features, width) if node_layer else None
        self.hidden = Linear(width if node_layer else features, width)
        self.output = Linear(width, shapes.outputs)

    def forward(self, graph: GraphBatch) -> Tensor:
        x = raw_node_features(graph, self.shapes, self.hidden.weight.dtype)
        if self.node_layer is not None:
            x = self.node_layer(x).relu()
        out: Tensor = self.output(self.hidden(pool(graph, x, "sum")).relu())
        return out
