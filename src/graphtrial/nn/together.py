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

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.loops import with_self_loops
from graphtrial.nn.raw import raw_nodes
from graphtrial.nn.whole.gcn_direct import DirectGCN
from graphtrial.nn.whole.mlp_direct import DirectMLP
from graphtrial.ops import aggregate, feature_linear, keep_noise, linear, sparse_features, symmetric_weight
from graphtrial.ops.csr import CSR
from graphtrial.ops.spmm import weighted_sum


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
        return with_self_loops(self.batch) if model.self_loops else self.batch

    def features_of(self, model: Any) -> Tensor:
        """Return the features of all nodes, [nodes, inputs]."""
        dtype = next(model.parameters()).dtype
        return self.keep(f"features {dtype}", lambda: raw_nodes(self.batch, model.shapes, dtype))


@dataclass(frozen=True)
class Asked:
    """The nodes that each copy is asked about, and what has been computed of them for good."""

    nodes: Sequence[Tensor]
    kept: dict[str, Any] = field(default_factory=dict)

    def neighbours(self, graph: GraphBatch) -> tuple[CSR, Tensor]:
        """Return a matrix with a row per node asked about and a column per node of each copy, and each entry's edge."""
        if "neighbours" not in self.kept:
            self.kept["neighbours"] = _neighbours(graph, self.nodes)
        return self.kept["neighbours"]

    def features(self, x: Tensor) -> list[Tensor]:
        """Return those rows of x, [nodes, inputs], that each copy is asked about."""
        if "features" not in self.kept:
            self.kept["features"] = [x.index_select(0, nodes) for nodes in self.nodes]
        return self.kept["features"]


def _neighbours(graph: GraphBatch, nodes: Sequence[Tensor]) -> tuple[CSR, Tensor]:
    count, every = graph.num_nodes, torch.cat(list(nodes))
    copy = torch.arange(len(nodes)).repeat_interleave(torch.tensor([len(some) for some in nodes]))
    degree = graph.in_degree.index_select(0, every)
    ptr = torch.cat([degree.new_zeros(1), degree.cumsum(0)])
    row = torch.arange(len(every)).repeat_interleave(degree)
    edge = torch.arange(len(row)) + (graph.in_ptr.index_select(0, every) - ptr[:-1]).index_select(0, row)
    column = graph.edge_index[0].index_select(0, edge) + count * copy.index_select(0, row)
    order = torch.argsort(column, stable=True)
    t_ptr = torch.cat([ptr[:1], torch.bincount(column, minlength=count * len(nodes)).cumsum(0)])
    return CSR(ptr, column, None, t_ptr, row.index_select(0, order), order), edge


@dataclass(frozen=True)
class Way:
    """How the copies of a model answer: a beginning without random numbers, and the rest of the way.

    The beginning is the same in training and in evaluation, so that what was computed to validate serves the next step.
    The rest answers for the nodes asked about, one copy after the other, [asked of all copies, outputs].
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
    share = symmetric_weight(seen, x.dtype)
    last = len(model.convs) - 1
    for i in range(1, last + 1):
        x = x.relu()
        if copies.training and model.dropout:
            x = x * torch.stack([keep_noise(x[0], model.dropout, generator) for generator in copies.generators])
        z = torch.bmm(x, copies.stacked(f"convs.{i}.weight").transpose(1, 2))
        bias = copies.stacked(f"convs.{i}.bias")
        if i < last:
            x = _summed(seen, z, share) + bias.unsqueeze(1)
        else:
            matrix, edge = asked.neighbours(seen)
            out = weighted_sum(matrix, z.flatten(0, 1), share.index_select(0, edge))
            return out + bias.repeat_interleave(torch.tensor([len(nodes) for nodes in asked.nodes]), dim=0)
    return torch.cat([rows.index_select(0, nodes) for rows, nodes in zip(x, asked.nodes, strict=True)])


def _summed(graph: GraphBatch, x: Tensor, weight: Tensor) -> Tensor:
    """Return the weighted sum over neighbours of x [copies, nodes, width], the vectors of all copies side by side."""
    beside = x.transpose(0, 1)
    return aggregate(graph, beside.reshape(len(beside), -1), "sum", weight).view(beside.shape).transpose(0, 1)


def _mlp_finish(copies: Copies, graph: Graph, nothing: None, asked: Asked) -> Tensor:
    """Let each copy look at the nodes it is asked about, and at no others."""
    answers = []
    rows = asked.features(graph.features_of(copies.first))
    for model, generator, x, nodes in zip(copies.models, copies.generators, rows, asked.nodes, strict=True):
        out = model.maps[0].of_features(x)
        for i, map_ in enumerate(model.maps[1:]):
            if i or model.first_activation:
                out = out.relu()
                if copies.training and model.dropout:
                    noise = keep_noise(out.new_empty(graph.batch.num_nodes, out.shape[1]), model.dropout, generator)
                    out = out * noise.index_select(0, nodes)
            out = map_(out)
        answers.append(out)
    return torch.cat(answers)
