"""Several models of one kind on one graph at once: what they share is computed once, what nobody asks for never.

The first convolution of all copies is one product, whose sum over neighbours does not depend on any weights. The last
one is a sum over the neighbours of those nodes alone that a copy is asked about, which are few: each split trains on
some nodes of the graph and is validated on others. Each copy draws its random numbers from a generator of its own, the
same ones as if it were alone.
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
from graphtrial.nn.raw import raw_nodes
from graphtrial.ops import aggregate, dropout_mask, feature_linear, linear, sparse_features, symmetric_weight
from graphtrial.ops.sparse_matrix import SparseMatrix, adjacency
from graphtrial.ops.spmm import spmm


@dataclass(frozen=True)
class Copies:
    """Models of one kind and settings, each with its generator; `training` says whether they drop anything."""

    models: Sequence[Any]
    generators: Sequence[torch.Generator]
    training: bool

    @property
    def first(self) -> Any:
        """Any of the models, for what they have in common."""
        return self.models[0]

    def stacked(self, name: str) -> Tensor:
        """Return the weights of that name of all models, [copies, ...]."""
        return torch.stack([model.get_parameter(name) for model in self.models])

    def drop(self, x: Tensor, share: float, nodes: Tensor | None = None, count: int = 0) -> Tensor:
        """Drop a share of x [copies, ..., width], each copy by its own random numbers.

        If the rows of x are some `nodes` [copies, ...] of `count`, each copy draws for all of them, as it would alone.
        """
        if not (self.training and share):
            return x
        if nodes is None:
            return x * torch.stack([dropout_mask(x[0], share, generator) for generator in self.generators])
        like = x.new_empty(count, x.shape[2])
        each = zip(self.generators, nodes, strict=True)
        return x * torch.stack([dropout_mask(like, share, generator).index_select(0, rows) for generator, rows in each])


@dataclass(frozen=True)
class Graph:
    """The one graph, and what has been computed of it for good."""

    batch: GraphBatch
    kept: dict[str, Tensor] = field(default_factory=dict)

    def keep(self, name: str, make: Callable[[], Tensor]) -> Tensor:
        """Return what `make` computes, computed only the first time."""
        if name not in self.kept:
            self.kept[name] = make()
        return self.kept[name]

    def seen_by(self, model: Any) -> GraphBatch:
        """Return the graph as this model sees it: with a loop at every node, or without."""
        return add_remaining_self_loops(self.batch) if model.self_loops else self.batch

    def features_of(self, model: Any) -> Tensor:
        """Return the features of all nodes, [nodes, inputs]."""
        dtype = next(model.parameters()).dtype
        return self.keep(f"features {dtype}", lambda: raw_nodes(self.batch, model.shapes, dtype))


@dataclass(frozen=True)
class Asked:
    """The nodes that each copy is asked about, [copies, most], and what has been computed of them for good.

    Where copies are asked about fewer nodes than others, node 0 fills up their row, and nobody looks at its answer.
    """

    nodes: Tensor
    kept: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def about(cls, nodes: Sequence[Tensor]) -> Asked:
        """Bring the nodes of all copies to one length."""
        return cls(pad_sequence(list(nodes), batch_first=True))

    def rows(self, name: str, matrix: SparseMatrix, columns: int) -> tuple[SparseMatrix, Tensor]:
        """Return the rows of a matrix, one per node, that are asked for, and where in it the value of each entry is.

        The matrix returned has a row for each node that a copy is asked about, and columns of its own for each copy.
        """
        if name not in self.kept:
            self.kept[name] = _blocks(matrix, columns, self.nodes)
        return self.kept[name]

    def of(self, x: Tensor) -> Tensor:
        """Return those rows of x [copies, nodes, width] that are asked for, [copies, most, width]."""
        return x.gather(1, self.nodes.unsqueeze(2).expand(-1, -1, x.shape[2]))


def _blocks(matrix: SparseMatrix, columns: int, nodes: Tensor) -> tuple[SparseMatrix, Tensor]:
    every = nodes.flatten()
    degree = matrix.rowptr.diff().index_select(0, every)
    row = torch.arange(len(every)).repeat_interleave(degree)
    first = matrix.rowptr.index_select(0, every) - (degree.cumsum(0) - degree)
    entry = torch.arange(len(row)) + first.index_select(0, row)
    column = matrix.col.index_select(0, entry) + row // nodes.shape[1] * columns
    return SparseMatrix.from_coo(row, column, len(every), columns * len(nodes)), entry


@dataclass(frozen=True)
class Way:
    """How the copies of a model answer: a beginning without random numbers, and the rest of the way.

    The beginning is the same in training and in evaluation, so that what was computed to validate serves the next step.
    The rest answers for the nodes asked about, [copies, most, outputs].
    """

    begin: Callable[[Copies, Graph], Any]
    finish: Callable[[Copies, Graph, Any, Asked], Tensor]


def ways() -> dict[type[nn.Module], Way]:
    """Return the models that gain from being computed together, and how; attention, for one, has nothing to share."""
    return {DirectGCN: Way(_gcn_begin, _gcn_finish), DirectMLP: Way(lambda copies, graph: None, _mlp_finish)}


def _gcn_begin(copies: Copies, graph: Graph) -> Tensor:
    """Return the first convolution of all copies for all nodes, [copies, nodes, width].

    The sum over neighbours does not know the weights, and is there already, unless the features are sparse: then it
    would make them less so.
    """
    seen, x = graph.seen_by(copies.first), graph.features_of(copies.first)
    weight, bias = copies.stacked("convs.0.weight"), copies.stacked("convs.0.bias")
    share = symmetric_weight(seen, x.dtype)
    if sparse_features(x) is None:
        summed = graph.keep(f"summed {x.dtype}", lambda: aggregate(seen, x, "sum", share))
        out = linear(summed, weight.flatten(0, 1), bias.flatten())
    else:
        out = aggregate(seen, feature_linear(x, weight.flatten(0, 1)), "sum", share) + bias.flatten()
    return out.view(len(out), len(weight), -1).transpose(0, 1).contiguous()


def _gcn_finish(copies: Copies, graph: Graph, x: Tensor, asked: Asked) -> Tensor:
    seen, model = graph.seen_by(copies.first), copies.first
    share, last = symmetric_weight(seen, x.dtype), len(model.convs) - 1
    if not last:
        return asked.of(x)
    for i in range(1, last + 1):
        x = copies.drop(x.relu(), model.dropout)
        z = torch.bmm(x, copies.stacked(f"convs.{i}.weight").transpose(1, 2))
        bias = copies.stacked(f"convs.{i}.bias").unsqueeze(1)
        if i < last:
            x = _summed(seen, z, share) + bias
    matrix, edge = asked.rows("neighbours", adjacency(seen), seen.num_nodes)
    return spmm(matrix, z.flatten(0, 1), share.index_select(0, edge)).view(*asked.nodes.shape, -1) + bias


def _summed(graph: GraphBatch, x: Tensor, weight: Tensor) -> Tensor:
    """Return the weighted sum over neighbours of x [copies, nodes, width], the vectors of all copies side by side."""
    beside = x.transpose(0, 1)
    return aggregate(graph, beside.reshape(len(beside), -1), "sum", weight).view(beside.shape).transpose(0, 1)


def _mlp_finish(copies: Copies, graph: Graph, nothing: None, asked: Asked) -> Tensor:
    """Let each copy look at the nodes it is asked about, and at no others."""
    model, x = copies.first, graph.features_of(copies.first)
    out = _mapped_rows(copies, x, asked)
    for i in range(1, len(model.maps)):
        if i > 1 or model.first_activation:
            out = copies.drop(out.relu(), model.dropout, asked.nodes, len(x))
        weight, bias = copies.stacked(f"maps.{i}.weight"), copies.stacked(f"maps.{i}.bias")
        out = torch.baddbmm(bias.unsqueeze(1), out, weight.transpose(1, 2))
    return out


def _mapped_rows(copies: Copies, x: Tensor, asked: Asked) -> Tensor:
    """Return the first map of each copy of the features that it is asked about, [copies, most, width]."""
    weight, bias = copies.stacked("maps.0.weight"), copies.stacked("maps.0.bias")
    found = sparse_features(x)
    if found is None:
        if "features" not in asked.kept:
            asked.kept["features"] = [x.index_select(0, nodes) for nodes in asked.nodes]
        return torch.stack([linear(*each) for each in zip(asked.kept["features"], weight, bias, strict=True)])
    matrix, entry = asked.rows("features", found[0], x.shape[1])
    turned = weight.transpose(1, 2).flatten(0, 1)
    out = spmm(matrix, turned, found[1].index_select(0, entry))
    return out.view(*asked.nodes.shape, -1) + bias.unsqueeze(1)
