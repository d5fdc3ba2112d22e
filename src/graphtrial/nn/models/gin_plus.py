"""GIN+."""

from __future__ import annotations

from typing import Annotated, Literal

from torch import nn

from graphtrial.core.arguments import Depth, DropoutRate, Range, Width
from graphtrial.nn.graphgps.activation import Activation
from graphtrial.nn.graphgps.gps_layer import gine_step
from graphtrial.nn.graphgps.head import Head, SumOrMean
from graphtrial.nn.graphgps.inputs import NodeFeatures
from graphtrial.nn.graphgps.plus import PlusBlock, PlusModel
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes

Convolution = Literal["gine", "gine-inner"]


@MODELS.register("gin-plus", title="GIN+")
class GINPlus(PlusModel):
    """GIN+, Luo et al. 2025 (arXiv:2502.09263), as released: GINE, epsilon 0, with feed-forward block.

    There is no batch norm after the convolution, as released, unless `batch_norm` is set. Convolution "gine" has ReLU
    in its MLP and ReLU and dropout after it, whatever the `activation` of feed-forward block and head; without `ffn` it
    is the GINE of GraphGPS and LRGB (arXiv:2206.08164). "gine-inner", that of Tönshoff et al. 2023 (arXiv:2309.00367),
    has `activation` and dropout in its MLP alone. Returns [graphs or nodes, outputs].
    """

    def __init__(
        self,
        shapes: Shapes,
        width: Width,
        layers: Depth = 4,
        convolution: Convolution = "gine",
        dropout: DropoutRate = 0.0,
        activation: Activation = "relu",
        residual: bool = True,
        batch_norm: bool = False,
        ffn: bool = True,
        edge_features: bool = False,
        edge_walk: Annotated[int, Range(0, 4096)] = 0,
        node_features: NodeFeatures = "embedding",
        position_width: Annotated[int, Range(0, 4096)] = 0,
        readout: SumOrMean = "mean",
        head: Head = "graphgym",
        head_layers: Depth = 3,
        head_l2: bool = True,
    ) -> None:
        inner = convolution == "gine-inner"

        def conv() -> nn.Module:
            return gine_step(width, activation, dropout) if inner else gine_step(width, "relu")

        blocks: list[nn.Module] = [
            PlusBlock(
                conv(),
                width,
                activation=activation,
                outer=None if inner else "relu",
                dropout=dropout,
                residual=residual,
                batch_norm=batch_norm,
                ffn=ffn,
            )
            for _ in range(layers)
        ]
        super().__init__(
            shapes,
            width,
            blocks,
            dropout=dropout,
            activation=activation,
            edge_features=edge_features,
            edge_walk=edge_walk,
            node_features=node_features,
            position_width=position_width,
            readout=readout,
            head=head,
            head_layers=head_layers,
            head_l2=head_l2,
        )
