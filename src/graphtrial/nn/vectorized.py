"""Vectorized forward pass of several models of one class on one graph.

The first convolution of all models is one matrix product, whose neighbourhood aggregation does not depend on weights
and is cached. The last convolution is computed for the target nodes of each model alone, which are few: each split
trains on some nodes and validates on others. Each model draws dropout masks from a generator of its own, the same ones
as if it were trained alone. Rows are padded with node 0; padded predictions are discarded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.self_loops import add_remaining_self_loops
from graphtrial.nn.models.gcn_direct import DirectGCN
from graphtrial.nn.models.mlp_direct import DirectMLP
from graphtrial.nn.raw_features import raw_node_features
from graphtrial.ops import aggregate, dropout_mask, feature_linear, linear, sparse_features, symmetric_weight
from graphtrial.ops.sparse_matrix import SparseMatrix, adjacency
from graphtrial.ops.spmm import spmm


@dataclass(frozen=True)
class ModelBatch:
    """Models of one class and configuration, each with its random generator; dropout acts if `training`."""

    models: Sequence[Any]
    generators: Sequence[torch.Generator]
    training: bool

    @property
    def first(self) -> Any:
        """The first model, for its configuration, which all share."""
        return self.models[0]

    def stacked(self, name: str) -> Tensor:
        """Stack the parameter `name` of all models, [models, ...]."""
        return torch.stack([model.get_parameter(name) for model in self.models])

    def drop(self, x: Tensor, p: float, nodes: Tensor | None = None, count: int = 0) -> Tensor:
        """Apply dropout to x [models, ..., width], with a mask from each model's own generator.

        If the rows of x are some `nodes` [models, ...] of `count`, each mask is sampled for all nodes, as in a single
        training, and then indexed.
        """
        if not (self.training and p):
            return x
        if nodes is None:
            return x * torch.stack([dropout_mask(x[0], p, generator) for generator in self.generators])
        like = x.new_empty(count, x.shape[2])
        each = zip(self.generators, nodes, strict=True)
        return x * torch.stack([dropout_mask(like, p, generator).index_select(0, rows) for generator, rows in each])


@dataclass(frozen=True)
class SharedGraph:
    """The graph that all models share, and a cache of values that depend on it alone."""

    batch: GraphBatch
    cache: dict[str, Tensor] = field(default_factory=dict)

    def cached(self, name: str, compute: Callable[[], Tensor]) -> Tensor:
        """Return the cached value `name`; `compute` it on first use."""
        if name not in self.cache:
            self.cache[name] = compute()
        return self.cache[name]

    def propagation_graph(self, model: Any) -> GraphBatch:
        """Return the graph with or without self-loops, by the setting of the model."""
        return add_remaining_self_loops(self.batch) if model.self_loops else self.batch

    def features(self, model: Any) -> Tensor:
        """Return the raw features of all nodes, [nodes, inputs]."""
        dtype = next(model.parameters()).dtype
        return self.cached(f"features {dtype}", lambda: raw_node_features(self.batch, model.shapes, dtype))


@dataclass(frozen=True)
class TargetNodes:
    """Target nodes of each model, [models, longest], padded with node 0, and a cache of values that depend on them."""

    nodes: Tensor
    cache: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def pad(cls, nodes: Sequence[Tensor]) -> TargetNodes:
        """Pad the target nodes of all models to one length."""
        return cls(pad_sequence(list(nodes), batch_first=True))

    def rows(self, name: str, matrix: SparseMatrix, columns: int) -> tuple[SparseMatrix, Tensor]:
        """Return the block-diagonal matrix of the target rows of `matrix`, and the entry of `matrix` behind each.

        It has a row for each target node of each model, and a block of `columns` columns for each model.
        """
        if name not in self.cache:
            self.cache[name] = _blocks(matrix, columns, self.nodes)
        blocks: tuple[SparseMatrix, Tensor] = self.cache[name]
        return blocks

    def select(self, x: Tensor) -> Tensor:
        """Select the target rows of x [models, nodes, width], [models, longest, width]."""
        return x.gather(1, self.nodes.unsqueeze(2).expand(-1, -1, x.shape[2]))


def _blocks(matrix: SparseMatrix, columns: int, nodes: Tensor) -> tuple[SparseMatrix, Tensor]:
    index = nodes.flatten()
    degree = matrix.rowptr.diff().index_select(0, index)
    row = torch.arange(len(index)).repeat_interleave(degree)
    first = matrix.rowptr.index_select(0, index) - (degree.cumsum(0) - degree)
    entry = torch.arange(len(row)) + first.index_select(0, row)
    column = matrix.col.index_select(0, entry) + row // nodes.shape[1] * columns
    return SparseMatrix.from_coo(row, column, len(index), columns * len(nodes)), entry


@dataclass(frozen=True)
class VectorizedForward:
    """Vectorized forward pass in two parts: deterministic `begin`, then `finish` with dropout.

    `begin` is the same in training and evaluation, so that its value from validation is reused by the next training
    step. `finish` returns the logits of the target nodes, [models, longest, outputs].
    """

    begin: Callable[[ModelBatch, SharedGraph], Any]
    finish: Callable[[ModelBatch, SharedGraph, Any, TargetNodes], Tensor]


def vectorized_models() -> dict[type[nn.Module], VectorizedForward]:
    """Return the model classes with a vectorized forward pass; attention, for one, has nothing to share."""
    return {
        DirectGCN: VectorizedForward(_gcn_begin, _gcn_finish),
        DirectMLP: VectorizedForward(lambda models, graph: None, _mlp_finish),
    }


def _gcn_begin(models: ModelBatch, graph: SharedGraph) -> Tensor:
    """Return the first convolution of all models and nodes, [models, nodes, width].

    The aggregation of dense features is cached, because it does not depend on weights; sparse features are multiplied
    first, because aggregation would make them dense.
    """
    looped, x = graph.propagation_graph(models.first), graph.features(models.first)
    weight, bias = models.stacked("convs.0.weight"), models.stacked("convs.0.bias")
    norm = symmetric_weight(looped, x.dtype)
    if sparse_features(x) is None:
        summed = graph.cached(f"summed {x.dtype}", lambda: aggregate(looped, x, "sum", norm))
        out = linear(summed, weight.flatten(0, 1), bias.flatten())
    else:
        out = aggregate(looped, feature_linear(x, weight.flatten(0, 1)), "sum", norm) + bias.flatten()
    return out.view(len(out), len(weight), -1).transpose(0, 1).contiguous()


def _gcn_finish(models: ModelBatch, graph: SharedGraph, x: Tensor, targets: TargetNodes) -> Tensor:
    looped, model = graph.propagation_graph(models.first), models.first
    norm, last = symmetric_weight(looped, x.dtype), len(model.convs) - 1
    if not last:
        return targets.select(x)
    for i in range(1, last + 1):
        x = models.drop(x.relu(), model.dropout)
        z = torch.bmm(x, models.stacked(f"convs.{i}.weight").transpose(1, 2))
        bias = models.stacked(f"convs.{i}.bias").unsqueeze(1)
        if i < last:
            x = _aggregate_all(looped, z, norm) + bias
    matrix, edge = targets.rows("neighbours", adjacency(looped), looped.num_nodes)
    return spmm(matrix, z.flatten(0, 1), norm.index_select(0, edge)).view(*targets.nodes.shape, -1) + bias


def _aggregate_all(graph: GraphBatch, x: Tensor, weight: Tensor) -> Tensor:
    """Aggregate x [models, nodes, width] of all models in one pass, with their features concatenated."""
    interleaved = x.transpose(0, 1)
    return (
        aggregate(graph, interleaved.reshape(len(interleaved), -1), "sum", weight)
        .view(interleaved.shape)
        .transpose(0, 1)
    )


def _mlp_finish(models: ModelBatch, graph: SharedGraph, _: None, targets: TargetNodes) -> Tensor:
    """Return the logits of the target nodes; no other nodes are computed."""
    model, x = models.first, graph.features(models.first)
    out = _first_layer(models, x, targets)
    for i in range(1, len(model.maps)):
        if i > 1 or model.first_activation:
            out = models.drop(out.relu(), model.dropout, targets.nodes, len(x))
        weight, bias = models.stacked(f"maps.{i}.weight"), models.stacked(f"maps.{i}.bias")
        out = torch.baddbmm(bias.unsqueeze(1), out, weight.transpose(1, 2))
    return out


def _first_layer(models: ModelBatch, x: Tensor, targets: TargetNodes) -> Tensor:
    """Return the first linear layer of each model on the features of its target nodes, [models, longest, width]."""
    weight, bias = models.stacked("maps.0.weight"), models.stacked("maps.0.bias")
    sparse = sparse_features(x)
    if sparse is None:
        if "features" not in targets.cache:
            targets.cache["features"] = [x.index_select(0, nodes) for nodes in targets.nodes]
        return torch.stack([linear(*each) for each in zip(targets.cache["features"], weight, bias, strict=True)])
    matrix, entry = targets.rows("features", sparse[0], x.shape[1])
    transposed = weight.transpose(1, 2).flatten(0, 1)
    out = spmm(matrix, transposed, sparse[1].index_select(0, entry))
    return out.view(*targets.nodes.shape, -1) + bias.unsqueeze(1)
