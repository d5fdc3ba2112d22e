"""GINE, as in TUDataset's experiments on large molecular datasets."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from graphtrial.core.arguments import Depth
from graphtrial.graphs import GraphBatch
from graphtrial.nn.gin_step import GINStep
from graphtrial.nn.layers import BatchNorm
from graphtrial.nn.raw_features import (
    raw_edge_features,
    raw_edge_width,
    raw_node_features,
    raw_node_width,
    require_level,
)
from graphtrial.nn.readout import Set2Set, pool
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes

Norm = Literal["outside", "inside", "none"]


@MODELS.register("gine-molecules", title="GINE-ε (molecules)")
class MoleculeGINE(nn.Module):
    r"""GINE for molecular regression as in TUDataset, Morris et al. 2020 (arXiv:2007.08663).

    .. math::
        h_i^{(l+1)} = \mathrm{norm}\Big(\mathrm{ReLU}\,\mathrm{MLP}_l\big((1 + \epsilon_l) h_i^{(l)}
            + \sum_{j \to i} \mathrm{ReLU}(h_j^{(l)} + \mathrm{enc}_l(f_{ji}))\big)\Big), \qquad
        \hat y = \mathrm{MLP}\big(\mathrm{readout}_i \, [h_i^{(1)} \| \dots \| h_i^{(L)}]\big)

    Defaults are those of ZINC: batch norm after each layer, concatenation of all layers (`jumping`), mean readout and a
    head of four linear layers. Alchemy has `norm="none"`, QM9 `norm="inside"` (batch norm in the MLPs); both have 6
    layers, `jumping=False`, Set2Set and `head_layers=2`. Returns [graphs, outputs].
    """

    levels = ("graph",)

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
        super().__init__()
        require_level("gine-molecules", shapes, self.levels)
        self.shapes = shapes
        self.jumping = jumping
        self.edge_features = edge_features
        edge_width = raw_edge_width(shapes, use_features=edge_features)
        inputs = [raw_node_width(shapes), *[width] * (layers - 1)]
        self.steps = nn.ModuleList(
            GINStep(_mlp(in_width, width, norm), _encoder(edge_width, in_width, norm)) for in_width in inputs
        )
        self.norms = nn.ModuleList(BatchNorm(width) if norm == "outside" else nn.Identity() for _ in inputs)
        pooled = width * (layers if jumping else 1)
        self.set2set = Set2Set(pooled, steps=6) if readout == "set2set" else None
        inner = [2 * pooled if self.set2set else pooled, *[width] * (head_layers - 1)]
        hidden = [part for in_width in inner[:-1] for part in (nn.Linear(in_width, width), nn.ReLU())]
        self.head = nn.Sequential(*hidden, nn.Linear(inner[-1], shapes.outputs))

    def forward(self, graph: GraphBatch) -> Tensor:
        dtype = next(self.parameters()).dtype
        x = raw_node_features(graph, self.shapes, dtype)
        f = raw_edge_features(graph, self.shapes, dtype, use_features=self.edge_features)
        states = []
        for step, norm in zip(self.steps, self.norms, strict=True):
            x = norm(step(graph, x, f).relu())
            states.append(x)
        pooled = torch.cat(states, dim=1) if self.jumping else x
        out: Tensor = self.head(pool(graph, pooled, "mean") if self.set2set is None else self.set2set(graph, pooled))
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
