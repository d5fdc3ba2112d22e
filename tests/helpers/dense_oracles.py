"""Slow, literal versions of dense models: one graph, one number at a time."""

from __future__ import annotations

import torch
from tests.helpers.samples import EDGE_TYPES, NODE_TYPES
from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs.buckets import Bucket
from graphtrial.nn import Shapes
from graphtrial.nn.dense.augmented import with_ones
from graphtrial.nn.dense.ring_layer import RingLayer


def dense_input(batch: GraphBatch, shapes: Shapes, *, edge_features: bool) -> Tensor:
    """The input of a batch of one graph, number by number: [channels, nodes, nodes]."""
    nodes = batch.num_nodes
    channels = 1 + NODE_TYPES + shapes.encoding_dim + EDGE_TYPES * edge_features
    out = torch.zeros(channels, nodes, nodes, dtype=torch.float64)
    degree = [0] * nodes
    for _, target in batch.edge_index.T.tolist():
        degree[target] += 1
    for edge, (source, target) in enumerate(batch.edge_index.T.tolist()):
        if degree[source] and degree[target]:
            out[0, source, target] += (degree[source] * degree[target]) ** -0.5
        if edge_features:
            out[1 + NODE_TYPES + shapes.encoding_dim + int(batch.columns["edge_attr"][edge]), source, target] += 1
    for node in range(nodes):
        out[1 + int(batch.columns["x"][node]), node, node] = 1
        for number in range(shapes.encoding_dim):
            out[1 + NODE_TYPES + number, node, node] = batch.columns["encoding"][node, number]
    return out


def fifteen_operations(h: Tensor) -> Tensor:
    """The equivariant operations of Maron et al. 2019, entry by entry: [channels, n, n] -> [15, channels, n, n]."""
    channels, n, _ = h.shape
    out = torch.zeros(15, channels, n, n, dtype=h.dtype)
    for c in range(channels):
        row = [sum(h[c, i, j].item() for j in range(n)) / n for i in range(n)]
        column = [sum(h[c, i, j].item() for i in range(n)) / n for j in range(n)]
        trace, total = sum(h[c, i, i].item() for i in range(n)) / n, sum(row) / n
        for i in range(n):
            for j in range(n):
                on_diagonal = [h[c, i, i], trace, row[i], column[i], total] if i == j else [0.0] * 5
                along = [column[i], row[i], column[j], row[j]]
                plain = [h[c, i, j], h[c, j, i], h[c, i, i], h[c, j, j], trace, total]
                for k, value in enumerate([*on_diagonal, *along, *plain]):
                    out[k, c, i, j] = value
    return out


def slow_ring_layer(layer: RingLayer, h: Tensor) -> Tensor:
    """RingGNN's layer on one graph, without norm and residual connection: [inputs, n, n] -> [width, n, n]."""
    n = h.shape[-1]
    operations = fifteen_operations(h)
    maps = []
    for at, (coefficients, diagonal) in enumerate(zip(layer.coefficients, layer.diagonal_bias, strict=True)):
        out = torch.zeros(len(diagonal), n, n, dtype=h.dtype)
        for k in range(15):
            for d in range(len(h)):
                out += coefficients[d, :, k].view(-1, 1, 1) * operations[k, d]
        added = torch.eye(n, dtype=h.dtype) * diagonal.view(-1, 1, 1)
        maps.append(out + added if at < 2 or layer.outer_bias else out)
    first, second = layer.switch
    return (first * maps[0] + second * channelwise_product(maps[2], maps[1]) + layer.bias.view(-1, 1, 1)).relu()


def channelwise_product(left: Tensor, right: Tensor) -> Tensor:
    """The product of the matrices of each channel, sum by sum."""
    out = torch.zeros_like(left)
    for i in range(left.shape[1]):
        for j in range(left.shape[1]):
            for step in range(left.shape[1]):
                out[:, i, j] += left[:, i, step] * right[:, step, j]
    return out


def slow_product_block(block: torch.nn.Module, h: Tensor) -> Tensor:
    """3WL-GNN's block on one graph, pair by pair: [inputs, n, n] -> [width, n, n]."""
    n = h.shape[-1]

    def mlp(maps: torch.nn.ModuleList) -> Tensor:
        rows = []
        for i in range(n):
            for j in range(n):
                value = h[:, i, j]
                for linear in maps:
                    value = linear(value).relu()
                rows.append(value)
        return torch.stack(rows, dim=1).view(-1, n, n)

    product = channelwise_product(mlp(block.left), mlp(block.right))
    out = []
    for i in range(n):
        for j in range(n):
            value = block.skip(torch.cat([h[:, i, j], product[:, i, j]]))
            out.append(value if block.residual is None else value + block.residual(h[:, i, j]))
    return torch.stack(out, dim=1).view(-1, n, n)


def bucket_of(sizes: list[int]) -> Bucket:
    """Graphs of these sizes side by side."""
    return Bucket(max(sizes), torch.tensor(sizes), 0)


def batched(graphs: list[Tensor]) -> Tensor:
    """Matrices of graphs as one state, padded with zeros: [channels, graphs, size, size]."""
    size = max(h.shape[-1] for h in graphs)
    out = graphs[0].new_zeros(len(graphs[0]), len(graphs), size, size)
    for at, h in enumerate(graphs):
        out[:, at, : h.shape[-1], : h.shape[-1]] = h
    return out


def state_with_ones(graphs: list[Tensor]) -> Tensor:
    """The same with a row of ones, as the blocks of 3WL-GNN take it."""
    return with_ones(batched(graphs).flatten(1))
