"""GINE of TUDataset's large molecule sets."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from graphtrial.core.arguments import Depth
from graphtrial.graphs import GraphBatch
from graphtrial.nn.isomorphism import IsomorphismStep
from graphtrial.nn.norm import BatchNorm
from graphtrial.nn.raw import raw_edge_width, raw_edges, raw_node_width, raw_nodes, require_level
from graphtrial.nn.readout import Set2Set, pool
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes

Norm = Literal["outside", "inside", "none"]


@MODELS.register("gine-molecules", title="GINE-ε (molecules)")
class MoleculeGINE(nn.Module):
    """GINE as TUDataset has it for regression on many molecules, Morris et al. 2020 (arXiv:2007.08663).

    ZINC is the default: batch norm outside the layers, all layers joined, mean, and four maps. Alchemy has
    `norm="none"`, QM9 `norm="inside"`; both have 6 layers, `jumping=False`, Set2Set and `head_layers=2`.
    Returns [graphs, outputs].
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
        numbers = raw_edge_width(shapes, use_features=edge_features)
        inputs = [raw_node_width(shapes), *[width] * (layers - 1)]
        self.steps = nn.ModuleList(
            IsomorphismStep(_mlp(given, width, norm), _encoder(numbers, given, norm)) for given in inputs
        )
        self.norms = nn.ModuleList(BatchNorm(width) if norm == "outside" else nn.Identity() for _ in inputs)
        heard = width * (layers if jumping else 1)
        self.set2set = Set2Set(heard, steps=6) if readout == "set2set" else None
        inner = [2 * heard if self.set2set else heard, *[width] * (head_layers - 1)]
        maps = [part for given in inner[:-1] for part in (nn.Linear(given, width), nn.ReLU())]
        self.head = nn.Sequential(*maps, nn.Linear(inner[-1], shapes.outputs))

    def forward(self, graph: GraphBatch) -> Tensor:
        dtype = next(self.parameters()).dtype
        x = raw_nodes(graph, self.shapes, dtype)
        f = raw_edges(graph, self.shapes, dtype, use_features=self.edge_features)
        states = []
        for step, norm in zip(self.steps, self.norms, strict=True):
            x = norm(step(graph, x, f).relu())
            states.append(x)
        heard = torch.cat(states, dim=1) if self.jumping else x
        return self.head(pool(graph, heard, "mean") if self.set2set is None else self.set2set(graph, heard))


def _mlp(given: int, width: int, norm: Norm) -> nn.Sequential:
    if norm == "inside":
        return _normed(given, width)
    return nn.Sequential(nn.Linear(given, given), nn.ReLU(), nn.Linear(given, width))


def _encoder(numbers: int, given: int, norm: Norm) -> nn.Sequential:
    if norm == "inside":
        return _normed(numbers, given)
    return nn.Sequential(nn.Linear(numbers, given), nn.ReLU(), nn.Linear(given, given))


def _normed(given: int, width: int) -> nn.Sequential:
    first, second = nn.Linear(given, width), nn.Linear(width, width)
    return nn.Sequential(first, BatchNorm(width), nn.ReLU(), second, BatchNorm(width), nn.ReLU())
