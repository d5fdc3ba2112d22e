"""GIN+, Exphormer and GRIT as their released code writes them: PyG's layers and scatters over edges or pairs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import GINEConv, global_add_pool
from torch_geometric.utils import scatter, softmax, to_dense_adj

from benchmarks.twins import GatedGCNConv


def feed_forward(width: int) -> nn.Sequential:
    """Two linear layers with ReLU."""
    return nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))


class Twin(nn.Module):
    """Embeddings, layers, sum over nodes, MLP that halves the width twice, on a PyG batch."""

    def __init__(self, width: int, layers: list[nn.Module], edge_types: int) -> None:
        super().__init__()
        self.nodes, self.edges = nn.Embedding(28, width), nn.Embedding(edge_types, width)
        self.layers = nn.ModuleList(layers)
        sizes = (width, width // 2, width // 4)
        self.head = nn.Sequential(
            nn.Linear(sizes[0], sizes[1]), nn.ReLU(), nn.Linear(sizes[1], sizes[2]), nn.ReLU(), nn.Linear(sizes[2], 1)
        )

    def inputs(self, data: Any) -> tuple[Tensor, Tensor]:
        """Return the states of nodes and edges."""
        kinds = data.edge_attr.flatten() if self.edges.num_embeddings > 1 else torch.zeros_like(data.edge_index[0])
        return self.nodes(data.x.flatten()), self.edges(kinds)

    def readout(self, data: Any, x: Tensor) -> Tensor:
        """Return the prediction of each graph."""
        out: Tensor = self.head(global_add_pool(x, data.batch, data.num_graphs))
        return out


class GINPlusLayer(nn.Module):
    """GINE, ReLU, skip connection, batch norm, feed-forward block."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = GINEConv(nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)))
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(2))
        self.mlp = feed_forward(width)

    def forward(self, data: Any, x: Tensor, e: Tensor) -> Tensor:
        x = self.norms[0](x + self.conv(x, data.edge_index, e).relu())
        out: Tensor = self.norms[1](x + self.mlp(x))
        return out


class GINPlus(Twin):
    """GIN+."""

    def __init__(self, width: int, layers: int, edge_types: int) -> None:
        super().__init__(width, [GINPlusLayer(width) for _ in range(layers)], edge_types)

    def forward(self, data: Any) -> Tensor:
        x, e = self.inputs(data)
        for layer in self.layers:
            x = layer(data, x, e)
        return self.readout(data, x)


class ExphormerLayer(nn.Module):
    """GatedGCN beside attention over the edges, those of the expander and those of virtual nodes, in one list."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.Q, self.K, self.E, self.V = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.local = GatedGCNConv(width)
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(5))
        self.mlp = feed_forward(width)

    def forward(
        self, data: Any, x: Tensor, e: Tensor, virtual: Tensor, index: Tensor, states: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        new_x, new_e = self.local(x, data.edge_index, e)
        local = self.norms[0](x + self.norms[1](new_x).relu())
        attended, virtual = self._attend(torch.cat([x, virtual]), index, states).split([len(x), len(virtual)])
        h = local + self.norms[3](x + attended)
        return self.norms[4](h + self.mlp(h)), e + self.norms[2](new_e).relu(), virtual

    def _attend(self, x: Tensor, index: Tensor, states: Tensor) -> Tensor:
        shape = (-1, self.heads, x.shape[1] // self.heads)
        query, key, value, edge = (f(given).view(shape) for f, given in
                                   ((self.Q, x), (self.K, x), (self.V, x), (self.E, states)))  # fmt: skip
        source, target = index
        scores = (key[source] * query[target] / shape[2] ** 0.5 * edge).sum(dim=2, keepdim=True).clamp(-5, 5).exp()
        summed = scatter(value[source] * scores, target, dim=0, dim_size=len(x))
        norm = scatter(scores, target, dim=0, dim_size=len(x))
        out: Tensor = (summed / (norm + 1e-6)).reshape(x.shape)
        return out


class Exphormer(Twin):
    """Exphormer; the expander of a batch is `data.expander`, drawn before."""

    def __init__(self, width: int, layers: int, heads: int, virtual: int) -> None:
        super().__init__(width, [ExphormerLayer(width, heads) for _ in range(layers)], 1)
        self.expander = nn.Embedding(1, width)
        self.virtual, self.outgoing, self.incoming = (nn.Embedding(virtual, width) for _ in range(3))

    def forward(self, data: Any) -> Tensor:
        x, e = self.inputs(data)
        kinds = torch.arange(self.virtual.num_embeddings).repeat_interleave(data.num_nodes)
        real = torch.arange(data.num_nodes).repeat(self.virtual.num_embeddings)
        virtual_index = data.num_nodes + data.batch[real] * self.virtual.num_embeddings + kinds
        index = torch.cat(
            [data.edge_index, data.expander, torch.stack([real, virtual_index]), torch.stack([virtual_index, real])],
            dim=1,
        )
        links = self.expander(torch.zeros_like(data.expander[0]))
        states = torch.cat([e, links, self.outgoing(kinds), self.incoming(kinds)])
        virtual = self.virtual.weight.repeat(data.num_graphs, 1)
        for layer in self.layers:
            x, e, virtual = layer(data, x, e, virtual, index, states)
        return self.readout(data, x)


class GRITLayer(nn.Module):
    """Attention over a list of all pairs with states of pairs."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.Q, self.E = nn.Linear(width, width), nn.Linear(width, 2 * width)
        self.K, self.V = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.score = nn.Parameter(torch.randn(self.size, heads, 1) / self.size)
        self.value = nn.Parameter(torch.randn(self.size, heads, self.size) / self.size)
        self.degree = nn.Parameter(torch.randn(1, width, 2))
        self.outputs = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(3))
        self.dropout = nn.Dropout(dropout)
        self.mlp = feed_forward(width)

    def forward(self, x: Tensor, e: Tensor, index: Tensor, log_degree: Tensor) -> tuple[Tensor, Tensor]:
        shape = (-1, self.heads, self.size)
        source, target = index
        pairs = self.K(x).view(shape)[source] + self.Q(x).view(shape)[target]
        states = self.E(e).view(len(e), self.heads, 2 * self.size)
        pairs = pairs * states[:, :, : self.size]
        pairs = (signed_sqrt(pairs) + states[:, :, self.size :]).relu()
        scores = torch.einsum("ehd,dhc->ehc", pairs, self.score).clamp(-5, 5)
        alpha = self.dropout(softmax(scores, target, num_nodes=len(x)))
        out = scatter(self.V(x).view(shape)[source] * alpha, target, dim=0, dim_size=len(x))
        summed = scatter(pairs * alpha, target, dim=0, dim_size=len(x))
        out = (out + torch.einsum("nhd,dhc->nhc", summed, self.value)).reshape(x.shape)
        out = (torch.stack([out, out * log_degree], dim=2) * self.degree).sum(dim=2)
        x = self.norms[0](x + self.outputs[0](out))
        return self.norms[1](x + self.mlp(x)), self.norms[2](e + self.outputs[1](pairs.flatten(1)))


def signed_sqrt(x: Tensor) -> Tensor:
    """Signed square root whose gradient at 0 is finite, which the released code clips instead."""
    return (x.relu() + 1e-12).sqrt() - ((-x).relu() + 1e-12).sqrt()


class GRIT(Twin):
    """GRIT; pairs and walks of a batch are computed before, as the released code does."""

    def __init__(self, width: int, layers: int, heads: int, walk: int, dropout: float) -> None:
        super().__init__(width, [GRITLayer(width, heads, dropout) for _ in range(layers)], 4)
        self.node_walks, self.pair_walks = (nn.Linear(walk, width, bias=False) for _ in range(2))

    def forward(self, data: Any) -> Tensor:
        x, e = self.inputs(data)
        x = x + self.node_walks(data.walks[data.loops])
        pairs = self.pair_walks(data.walks).index_add(0, data.at, e)
        for layer in self.layers:
            x, pairs = layer(x, pairs, data.pairs, data.log_degree)
        return self.readout(data, x)


def with_pairs(data: Any, walk: int) -> Any:
    """Return the batch with all ordered pairs (source, target), their walks and the pairs of nodes and edges."""
    dense = to_dense_adj(data.edge_index, data.batch)
    transition = dense / dense.sum(dim=2, keepdim=True).clamp(min=1)
    powers = [torch.eye(dense.shape[1]).expand_as(dense)]
    for _ in range(walk - 1):
        powers.append(powers[-1] @ transition)
    walks = torch.stack(powers, dim=3)
    sizes, start = data.ptr.diff(), data.ptr[:-1]
    pairs, parts, offset, offsets = [], [], 0, []
    for number, (size, first) in enumerate(zip(sizes.tolist(), start.tolist(), strict=True)):
        target, source = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
        pairs.append(torch.stack([source.flatten(), target.flatten()]) + first)
        parts.append(walks[number, :size, :size].reshape(-1, walk))
        offsets.append(offset)
        offset += size**2
    offsets_of = torch.tensor(offsets)[data.batch]

    def position(source: Tensor, target: Tensor) -> Tensor:
        owner = data.batch[target]
        at: Tensor = offsets_of[target] + (target - start[owner]) * sizes[owner] + source - start[owner]
        return at

    nodes = torch.arange(data.num_nodes)
    data.pairs, data.walks = torch.cat(pairs, dim=1), torch.cat(parts)
    data.loops, data.at = position(nodes, nodes), position(*data.edge_index)
    data.log_degree = torch.bincount(data.edge_index[1], minlength=data.num_nodes).float().log1p().unsqueeze(1)
    return data
