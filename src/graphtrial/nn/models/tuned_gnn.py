"""Well-tuned GCN, GraphSAGE and GAT for node classification."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from graphtrial.core.arguments import DropoutRate
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.self_loops import add_remaining_self_loops
from graphtrial.nn.conv.gat import gat_attention
from graphtrial.nn.layers import BatchNorm, Dropout, FeatureLinear
from graphtrial.nn.models.gcn_direct import Propagation
from graphtrial.nn.raw_features import raw_node_features, raw_node_width, require_level
from graphtrial.nn.readout import pool
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import aggregate

Kind = Literal["gcn", "sage", "gat"]


class MeanSage(nn.Module):
    r"""PyG's `SAGEConv`, :math:`h_i' = W_1 \, \mathrm{mean}_{j \to i} h_j + b + W_2 h_i`, of any width."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.neighbours = FeatureLinear(inputs, outputs)
        self.own = FeatureLinear(inputs, outputs, bias=False)

    def forward(self, graph: GraphBatch, x: Tensor) -> Tensor:
        out: Tensor = self.neighbours(aggregate(graph, x, "mean")) + self.own(x)
        return out


class SingleHeadGAT(nn.Module):
    """PyG's `GATConv` with one head and no bias, of any width (see `nn.conv.gat`)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.linear = FeatureLinear(inputs, outputs, bias=False)
        self.source = nn.Parameter(torch.empty(1, outputs))
        self.target = nn.Parameter(torch.empty(1, outputs))
        for weight in (self.linear.weight, self.source, self.target):
            nn.init.xavier_uniform_(weight)

    def forward(self, graph: GraphBatch, x: Tensor) -> Tensor:
        z = self.linear(x).unsqueeze(1)
        return gat_attention(graph, z, self.source, self.target, 0.2, 0.0).flatten(1)


@MODELS.register("tuned-gnn", title="tunedGNN")
class TunedGNN(nn.Module):
    r"""GCN, GraphSAGE and GAT with norm, skip connections and dropout, Luo et al. 2024 (arXiv:2406.08993), as released.

    .. math:: h' = \mathrm{dropout}\,\mathrm{ReLU}\,\mathrm{norm}\big(\mathrm{conv}(h) \; [+ \, W h + b]\big)

    on a graph with self-loops; the first layer reads the raw features, or with `pre_linear` a linear layer of them; one
    linear layer gives the logits. `residual` adds the linear skip connection. `idle_parameters` adds the unused modules
    of the released models, for the same parameter counts. Returns [nodes, outputs], or for graph tasks their mean over
    each graph, [graphs, outputs].
    """

    levels = ("graph", "node")

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 3,
        conv: Kind = "gcn",
        norm: Literal["none", "layer", "batch"] = "layer",
        residual: bool = False,
        pre_linear: bool = False,
        dropout: DropoutRate = 0.5,
        idle_parameters: bool = False,
    ) -> None:
        super().__init__()
        require_level("tuned-gnn", shapes, self.levels)
        self.shapes = shapes
        features = raw_node_width(shapes)
        sizes = [width if pre_linear else features, *[width] * (layers - 1)]
        kind = {"gcn": Propagation, "sage": MeanSage, "gat": SingleHeadGAT}[conv]
        self.first = FeatureLinear(features, width) if pre_linear else None
        self.convs = nn.ModuleList(kind(size, width) for size in sizes)
        self.skips = nn.ModuleList(FeatureLinear(size, width) for size in sizes) if residual else None
        self.norms = nn.ModuleList(_norm(norm, width) for _ in sizes)
        self.dropout = Dropout(dropout)
        self.head = nn.Linear(width, shapes.outputs)
        self.idle = nn.ModuleList()
        if idle_parameters:
            self.idle.extend([] if pre_linear else [nn.Linear(features, width)])
            self.idle.extend([] if residual else [nn.Linear(size, width) for size in sizes])
            unused = [name for name in ("layer", "batch") if name != norm]
            self.idle.extend(_norm(name, width) for name in unused for _ in sizes)

    def forward(self, graph: GraphBatch) -> Tensor:
        looped = add_remaining_self_loops(graph)
        x = raw_node_features(graph, self.shapes, next(self.parameters()).dtype)
        if self.first is not None:
            x = self.dropout(self.first(x))
        for at, (conv, norm) in enumerate(zip(self.convs, self.norms, strict=True)):
            new = conv(looped, x)
            new = new if self.skips is None else new + self.skips[at](x)
            x = self.dropout(norm(new).relu())
        out: Tensor = self.head(x)
        return pool(graph, out, "mean") if self.shapes.level == "graph" else out


def _norm(name: str, width: int) -> nn.Module:
    return nn.LayerNorm(width) if name == "layer" else BatchNorm(width) if name == "batch" else nn.Identity()
