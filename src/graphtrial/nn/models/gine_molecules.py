"""GINE, as in TUDataset's experiments on large molecular datasets."""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn

from graphtrial.core.arguments import Depth
from graphtrial.graphs import GraphBatch
from graphtrial.nn.gin_step import GINStack, GINStep
from graphtrial.nn.layers import BatchNorm
from graphtrial.nn.readout import Set2Set, pool
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes

Norm = Literal["outside", "inside", "none"]


@MODELS.register("gine-molecules", title="GINE-ε (molecules)")
class MoleculeGINE(GINStack):
    r"""GINE for molecular regression as in TUDataset, Morris et al. 2020 (arXiv:2007.08663).

    .. math::
        h_i^{(l+1)} = \mathrm{norm}\Big(\mathrm{ReLU}\,\mathrm{MLP}_l\big((1 + \epsilon_l) h_i^{(l)}
            + \sum_{j \to i} \mathrm{ReLU}(h_j^{(l)} + \mathrm{enc}_l(f_{ji}))\big)\Big), \qquad
        \hat y = \mathrm{MLP}\big(\mathrm{readout}_i \, [h_i^{(1)} \| \dots \| h_i^{(L)}]\big)

    Defaults are those of ZINC: batch norm after each layer, concatenation of all layers (`jumping`), mean readout and a
    head of four linear layers. Alchemy has `norm="none"`, QM9 `norm="inside"` (batch norm in the MLPs); both have 6
    layers, `jumping=False`, Set2Set and `head_layers=2`. Returns [graphs, outputs].
    """

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 4,
        norm: Norm = "outside",
        jumping: bool = True,
        readout: Literal["mean", "set2set"] = "mean",
        head_layers: Depth = 4,
        edge_features: bool = True,
    ) -> None:
        def step(in_width: int, edge_width: int) -> GINStep:
            return GINStep(_mlp(in_width, width, norm), _encoder(edge_width, in_width, norm))

        super().__init__("gine-molecules", shapes, width, layers, step, jumping=jumping, edge_features=edge_features)
        self.norms = nn.ModuleList(BatchNorm(width) if norm == "outside" else nn.Identity() for _ in range(layers))
        self.set2set = Set2Set(self.state_width, steps=6) if readout == "set2set" else None
        inner = [self.state_width * (2 if self.set2set else 1), *[width] * (head_layers - 1)]
        hidden = [part for in_width in inner[:-1] for part in (nn.Linear(in_width, width), nn.ReLU())]
        self.head = nn.Sequential(*hidden, nn.Linear(inner[-1], shapes.outputs))

    def activate(self, x: Tensor, layer: int) -> Tensor:
        out: Tensor = self.norms[layer](x.relu())
        return out

    def forward(self, graph: GraphBatch) -> Tensor:
        x = self.node_states(graph)
        out: Tensor = self.head(pool(graph, x, "mean") if self.set2set is None else self.set2set(graph, x))
        return out


def _mlp(in_width: int, width: int, norm: Norm) -> nn.Sequential:
    if norm == "inside":
        return _normed(in_width, width)
    return nn.Sequential(nn.Linear(in_width, in_width), nn.ReLU(), nn.Linear(in_width, width))


def _encoder(edge_width: int, in_width: int, norm: Norm) -> nn.Sequential:
    if norm == "inside":
        return _normed(edge_width, in_width)
    return nn.Sequential(nn.Linear(edge_width, in_width), nn.ReLU(), nn.Linear(in_width, in_width))


def _normed(in_width: int, width: int) -> nn.Sequential:
    first, second = nn.Linear(in_width, width), nn.Linear(width, width)
    return nn.Sequential(first, BatchNorm(width), nn.ReLU(), second, BatchNorm(width), nn.ReLU())
