"""PyG implementations of the models of the small-batch workloads: any number of outputs, encodings, node targets."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import GINConv, global_add_pool, global_mean_pool

from benchmarks.entries import LAYERS
from benchmarks.twins import layer_of


class SmallTwin(nn.Module):
    """Encoder of features and encoding, layers with batch norm, ReLU and residual connection, pooling and heads."""

    def __init__(
        self, kind: str, width: int, outputs: int, *, types: int, dim: int, encoding: int, nodes: bool
    ) -> None:
        super().__init__()
        self.kind = kind
        self.feature = nn.Embedding(types, width) if types else nn.Linear(dim, width) if dim else None
        self.encoding = nn.Linear(encoding, width) if encoding else None
        gated = kind == "gatedgcn"
        self.edge = nn.Linear(1, width) if gated else None
        self.layers = nn.ModuleList(layer_of(kind, width, last=number == LAYERS - 1) for number in range(LAYERS))
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(LAYERS))
        self.edge_norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(LAYERS if gated else 0))
        self.heads = _heads(kind, width, outputs)
        self.node_heads = _heads(kind, width, outputs) if nodes else None

    def forward(self, data: Any) -> tuple[Tensor, Tensor | None]:
        """Return the logits of graphs and, where they have any, of nodes."""
        parts = []
        if self.feature is not None:
            parts.append(self.feature(data.x.flatten() if isinstance(self.feature, nn.Embedding) else data.x))
        if self.encoding is not None:
            parts.append(self.encoding(data.encoding))
        x = sum(parts[1:], parts[0])
        e = None if self.edge is None else self.edge(x.new_ones(data.edge_index.size(1), 1))
        states = [x]
        for number, layer in enumerate(self.layers):
            if e is None:
                x = x + F.relu(self.norms[number](layer(x, data.edge_index)))
            else:
                new_x, new_e = layer(x, data.edge_index, e)
                x = x + F.relu(self.norms[number](new_x))
                e = e + F.relu(self.edge_norms[number](new_e))
            states.append(x)
        states = states[-len(self.heads) :]
        pool = global_add_pool if self.kind == "gin" else global_mean_pool
        graphs = [head(pool(x, data.batch, data.num_graphs)) for head, x in zip(self.heads, states, strict=True)]
        total = torch.stack(graphs).sum(0)
        if self.node_heads is None:
            return total, None
        return total, torch.stack([head(x) for head, x in zip(self.node_heads, states, strict=True)]).sum(0)


class GINEpsTwin(nn.Module):
    """GIN-epsilon of TUDataset on one-hot or continuous features."""

    def __init__(self, width: int, outputs: int, *, types: int, dim: int, layers: int) -> None:
        super().__init__()
        self.types = types
        inputs = [types or dim, *[width] * (layers - 1)]
        self.layers = nn.ModuleList(GINConv(_mlp(each, width), train_eps=True) for each in inputs)
        self.first, self.last = nn.Linear(width, width), nn.Linear(width, outputs)

    def forward(self, data: Any) -> tuple[Tensor, None]:
        """Return the logits of graphs."""
        x = F.one_hot(data.x.flatten().long(), self.types).float() if self.types else data.x.float()
        for layer in self.layers:
            x = layer(x, data.edge_index)
        pooled = F.relu(self.first(global_mean_pool(x, data.batch, data.num_graphs)))
        return self.last(F.dropout(pooled, 0.5, self.training)), None


def _mlp(inputs: int, width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.BatchNorm1d(width))


def _heads(kind: str, width: int, outputs: int) -> nn.ModuleList:
    if kind == "gin":
        return nn.ModuleList(nn.Linear(width, outputs) for _ in range(LAYERS + 1))
    half, quarter = width // 2, width // 4
    steps = nn.Linear(width, half), nn.ReLU(), nn.Linear(half, quarter), nn.ReLU(), nn.Linear(quarter, outputs)
    return nn.ModuleList([nn.Sequential(*steps)])
