"""PyG implementations of the models: PyG's layers, batch norm, residual connections, pooling, head."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import (
    GATConv,
    GCNConv,
    GINConv,
    GMMConv,
    MessagePassing,
    SAGEConv,
    global_add_pool,
    global_mean_pool,
)
from torch_geometric.utils import degree, scatter

from benchmarks.entries import LAYERS


class Twin(nn.Module):
    """Encoder, four layers with batch norm, ReLU and residual connection, pooling and head, on a PyG batch."""

    def __init__(self, kind: str, width: int, *, node_types: int = 0, node_dim: int = 0) -> None:
        super().__init__()
        self.kind = kind
        norms = LAYERS if kind != "mlp" else 0
        self.encoder = nn.Embedding(node_types, width) if node_types else nn.Linear(node_dim, width)
        self.edge_encoder = nn.Linear(1, width) if kind == "gatedgcn" else None
        self.layers = nn.ModuleList(layer_of(kind, width, last=number == LAYERS - 1) for number in range(LAYERS))
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(norms))
        edge_norms = LAYERS if kind == "gatedgcn" else 0
        self.edge_norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(edge_norms))
        self.heads = nn.ModuleList(
            [nn.Linear(width, 1) for _ in range(LAYERS + 1)] if kind == "gin" else [_head(width)]
        )

    def forward(self, data: Any) -> Tensor:
        x = self.encoder(data.x)
        e = self.edge_encoder(x.new_ones(data.edge_index.size(1), 1)) if self.edge_encoder is not None else None
        states = [x]
        for number, layer in enumerate(self.layers):
            if self.kind == "mlp":
                x = F.relu(layer(x))
            elif e is not None:
                new_x, new_e = layer(x, data.edge_index, e)
                x = x + F.relu(self.norms[number](new_x))
                e = e + F.relu(self.edge_norms[number](new_e))
            else:
                activation = F.elu if self.kind == "gat" else F.relu
                x = x + activation(self.norms[number](layer(x, data.edge_index)))
            states.append(x)
        pool = global_add_pool if self.kind == "gin" else global_mean_pool
        inputs = states[-len(self.heads) :]
        outputs = [head(pool(x, data.batch, data.num_graphs)) for head, x in zip(self.heads, inputs, strict=True)]
        return torch.stack(outputs).sum(0)


class GatedGCNConv(MessagePassing):  # type: ignore[misc]  # PyG has no type hints
    """Gated graph convolution with edge features as a PyG `MessagePassing` layer."""

    def __init__(self, width: int) -> None:
        super().__init__(aggr="add")
        self.A, self.B, self.C, self.D, self.E = (nn.Linear(width, width) for _ in range(5))

    def forward(self, x: Tensor, edge_index: Tensor, e: Tensor) -> tuple[Tensor, Tensor]:
        self._edges = e
        out = self.propagate(edge_index, Bx=self.B(x), Dx=self.D(x), Ex=self.E(x), Ce=self.C(e))
        edges = self._edges
        del self._edges
        return self.A(x) + out, edges

    def message(self, Bx_j: Tensor, Dx_j: Tensor, Ex_i: Tensor, Ce: Tensor) -> tuple[Tensor, Tensor]:
        self._edges = Dx_j + Ex_i + Ce
        gates = torch.sigmoid(self._edges)
        return gates * Bx_j, gates

    def aggregate(self, inputs: tuple[Tensor, Tensor], index: Tensor, dim_size: int) -> Tensor:
        messages, gates = inputs
        total = scatter(messages, index, 0, dim_size, reduce="sum")
        mean: Tensor = total / (scatter(gates, index, 0, dim_size, reduce="sum") + 1e-6)
        return mean


class MoNetConv(nn.Module):
    """`GMMConv` on pseudo-coordinates computed from the degrees of both end points of an edge."""

    def __init__(self, width: int, kernels: int = 3) -> None:
        super().__init__()
        self.project = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
        self.conv = GMMConv(width, width, dim=2, kernel_size=kernels, root_weight=False)
        self.conv.root = None  # PyG 2.8 accesses it although there is none

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        root = (degree(edge_index[1], x.size(0)) + 1).rsqrt()
        coordinates = torch.stack([root[edge_index[0]], root[edge_index[1]]], dim=1)
        out: Tensor = self.conv(x, edge_index, self.project(coordinates))
        return out


def layer_of(kind: str, width: int, *, last: bool) -> nn.Module:
    """Return a layer of a model, the last of which may differ."""
    layer: nn.Module
    if kind == "mlp":
        layer = nn.Linear(width, width)
    elif kind == "gcn":
        layer = GCNConv(width, width, add_self_loops=False)
    elif kind == "gin":
        mlp = nn.Sequential(nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, width))
        layer = GINConv(mlp, train_eps=True)
    elif kind == "graphsage":
        layer = SAGEConv(width, width, aggr="mean", normalize=True)
    elif kind == "gat":
        heads = 1 if last else 8  # as in the reference
        layer = GATConv(width, width // heads, heads=heads, add_self_loops=False, bias=False)
    else:
        layer = MoNetConv(width) if kind == "monet" else GatedGCNConv(width)
    return layer


def _head(width: int) -> nn.Sequential:
    half, quarter = width // 2, width // 4
    return nn.Sequential(nn.Linear(width, half), nn.ReLU(), nn.Linear(half, quarter), nn.ReLU(), nn.Linear(quarter, 1))
