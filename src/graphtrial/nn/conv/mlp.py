"""Linear layer per node: the baseline without edges."""

from __future__ import annotations

from types import MappingProxyType

from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.layers import Linear
from graphtrial.nn.registry import MODELS


@MODELS.register("mlp", title="MLP")
class MLP(Conv):
    r"""Linear layer per node: the structure-agnostic baseline.

    .. math:: h_i' = W h_i + b

    x: [nodes, width] -> [nodes, width]; edges are not used. As released, the readout is the mean, or with `gated` the
    sum.
    """

    batch_norm = False
    residual = False
    options = ("raw_input", "gated")
    implied = MappingProxyType({"gated": {"readout": "sum"}})

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = Linear(width, width)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        return self.linear(x), e
