"""Prediction heads of the GraphGPS family."""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.graphgps.activation import Activation, make_activation
from graphtrial.nn.head import halving_mlp
from graphtrial.nn.layers import Dropout, Linear
from graphtrial.nn.readout import pool
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import l2_normalize

Head = Literal["graphgym", "san", "mlp"]
SumOrMean = Literal["mean", "sum"]


class UnitRows(nn.Module):
    """L2 normalisation of rows."""

    def forward(self, x: Tensor) -> Tensor:
        return l2_normalize(x)


class PredictionHead(nn.Module):
    """Pooling, for targets of graphs, and an MLP. x: [nodes, width] -> [graphs or nodes, outputs].

    - `graphgym`: `layers` linear layers, each hidden one followed by ReLU and, with `l2`, by L2 normalisation of every
      row: GraphGym builds its MLP like this, regardless of the configuration, and no paper mentions it;
    - `san`: width -> width/2 -> width/4 -> outputs with ReLU;
    - `mlp`: `layers` linear layers with the model's activation, and dropout before each.
    """

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        *,
        kind: Head,
        layers: int,
        l2: bool,
        readout: SumOrMean,
        activation: Activation = "relu",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.readout = readout if shapes.level == "graph" else None
        if kind == "san":
            self.mlp = halving_mlp(width, shapes.outputs)
        elif kind == "mlp":
            hidden = [(Dropout(dropout), Linear(width, width), make_activation(activation)) for _ in range(layers - 1)]
            self.mlp = nn.Sequential(
                *(part for step in hidden for part in step), Dropout(dropout), Linear(width, shapes.outputs)
            )
        else:
            steps = [(Linear(width, width), nn.ReLU(), *([UnitRows()] if l2 else [])) for _ in range(layers - 1)]
            self.mlp = nn.Sequential(*(part for step in steps for part in step), Linear(width, shapes.outputs))

    def forward(self, graph: GraphBatch, x: Tensor) -> Tensor:
        out: Tensor = self.mlp(x if self.readout is None else pool(graph, x, self.readout))
        return out
