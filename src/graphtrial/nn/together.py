"""Several models of one kind on one graph at once: sums over neighbours and products with the features are shared.

The answers of all copies to one question are computed as one tensor, [copies, nodes, width]; for a sum over neighbours
the vectors of all copies of a node are put side by side, so that one pass over the edges serves all of them. What does
not depend on any weights, the features summed over neighbours, is computed once and for all. Each copy draws its random
numbers from a generator of its own, the same ones as if it were alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.loops import with_self_loops
from graphtrial.nn.raw import raw_nodes
from graphtrial.nn.whole.appnp import APPNP
from graphtrial.nn.whole.gat_direct import SLOPE, DirectGAT
from graphtrial.nn.whole.gcn_direct import DirectGCN
from graphtrial.nn.whole.mlp_direct import DirectMLP
from graphtrial.ops import aggregate, attention, edge_softmax, linear, symmetric_weight
from graphtrial.ops.csr import CSR
from graphtrial.ops.spmm import weighted_sum

SPARSE = 0.15
"""Features with a smaller share of numbers other than 0 are multiplied as a sparse matrix."""


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

    def drop(self, x: Tensor, share: float) -> Tensor:
        """Drop a share of x, [copies, ...], each copy by its own random numbers."""
        if not (self.training and share):
            return x
        return x * self.noise(x.shape[1:], share, x.dtype)

    def noise(self, shape: Sequence[int], share: float, dtype: torch.dtype) -> Tensor:
        """Return what multiplies a tensor of this shape of each copy: 0 for what is dropped, more than 1 else."""
        made = torch.empty(len(self.models), *shape, dtype=dtype)
        for noise, generator in zip(made, self.generators, strict=True):
            noise.bernoulli_(1 - share, generator=generator)
        return made.div_(1 - share)


@dataclass(frozen=True)
class Same:
    """Numbers [nodes, inputs] that are the same for all copies, also as a sparse matrix where few are not 0."""

    dense: Tensor
    sparse: tuple[CSR, Tensor] | None

    @classmethod
    def of(cls, x: Tensor) -> Same:
        """Look at the numbers; words of an article are few of all words."""
        row, column = x.nonzero(as_tuple=True)
        if len(row) > SPARSE * x.numel():
            return cls(x, None)
        order = torch.argsort(column, stable=True)
        ptr, t_ptr = (_pointers(ids, size) for ids, size in zip((row, column), x.shape, strict=True))
        return cls(x, (CSR(ptr, column, None, t_ptr, row[order], order), x[row, column]))

    def mapped(self, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Return the product with weight [outputs, inputs], and the bias added."""
        if self.sparse is None:
            return linear(self.dense, weight, bias)
        out = weighted_sum(self.sparse[0], weight.t().contiguous(), self.sparse[1])
        return out if bias is None else out + bias


def _pointers(ids: Tensor, size: int) -> Tensor:
    return torch.cat([ids.new_zeros(1), torch.bincount(ids, minlength=size).cumsum(0)])


@dataclass(frozen=True)
class Graph:
    """The one graph, and what has been computed of it for good."""

    batch: GraphBatch
    kept: dict[str, Same] = field(default_factory=dict)

    def keep(self, name: str, make: Callable[[], Tensor]) -> Same:
        """Return what `make` computes, computed only the first time."""
        if name not in self.kept:
            self.kept[name] = Same.of(make())
        return self.kept[name]


@dataclass(frozen=True)
class Way:
    """How the copies of a model answer: a beginning without random numbers, and the rest of the way.

    The beginning is the same in training and in evaluation, so that what was computed to validate serves the next step.
    """

    begin: Callable[[Copies, Graph], Any]
    finish: Callable[[Copies, Graph, Any], Tensor]


def ways() -> dict[type[nn.Module], Way]:
    """Return the models whose copies can be computed together, and how."""
    return {
        DirectGCN: Way(_gcn_begin, _gcn_finish),
        DirectMLP: Way(_mlp_begin, _mlp_finish),
        APPNP: Way(_features, _appnp_finish),
        DirectGAT: Way(_features, _gat_finish),
    }


def _features(copies: Copies, graph: Graph) -> Same:
    dtype = next(copies.first.parameters()).dtype
    return graph.keep(f"features {dtype}", lambda: raw_nodes(graph.batch, copies.first.shapes, dtype))


def _seen(copies: Copies, graph: Graph) -> GraphBatch:
    return with_self_loops(graph.batch) if copies.first.self_loops else graph.batch


def _mapped(copies: Copies, x: Tensor | Same, name: str, *, share: float = 0.0, bias: bool = True) -> Tensor:
    """Map x by the weights of each copy, after a share of it is dropped: [copies, nodes, outputs].

    x is [copies, nodes, inputs], or the same for all: then one product serves all copies, unless each drops something
    else of it.
    """
    weight, offset = copies.stacked(f"{name}.weight"), copies.stacked(f"{name}.bias") if bias else None
    if isinstance(x, Tensor):
        out = torch.bmm(copies.drop(x, share), weight.transpose(1, 2))
        return out if offset is None else out + offset.unsqueeze(1)
    if copies.training and share:
        one = Copies(copies.models[:1], copies.generators[:1], training=True)
        rows = []
        for at, generator in enumerate(copies.generators):
            kept = replace(one, generators=(generator,)).drop(x.dense.unsqueeze(0), share)[0]
            rows.append(linear(kept, weight[at], None if offset is None else offset[at]))
        return torch.stack(rows)
    flat = x.mapped(weight.flatten(0, 1), None if offset is None else offset.flatten())
    return flat.view(len(flat), len(weight), -1).transpose(0, 1).contiguous()


def _summed(graph: GraphBatch, x: Tensor, weight: Tensor) -> Tensor:
    """Return the weighted sum over neighbours of x [copies, nodes, width]; weight: [edges], or [copies, edges].

    Where each copy has weights of its own there is nothing to share, and one after the other is faster.
    """
    if weight.dim() == 2:
        return torch.stack([aggregate(graph, x[at], "sum", weight[at]) for at in range(len(x))])
    beside = x.transpose(0, 1)
    return aggregate(graph, beside.reshape(len(beside), -1), "sum", weight).view(beside.shape).transpose(0, 1)


def _gcn_begin(copies: Copies, graph: Graph) -> Tensor:
    """Return the first convolution: the sum over neighbours does not know the weights, and is there already."""
    seen, x = _seen(copies, graph), _features(copies, graph).dense
    summed = graph.keep(f"summed {x.dtype}", lambda: aggregate(seen, x, "sum", symmetric_weight(seen, x.dtype)))
    return _mapped(copies, summed, "convs.0")


def _gcn_finish(copies: Copies, graph: Graph, x: Tensor) -> Tensor:
    seen, model = _seen(copies, graph), copies.first
    for i in range(1, len(model.convs)):
        z = _mapped(copies, x.relu(), f"convs.{i}", share=model.dropout, bias=False)
        x = _summed(seen, z, symmetric_weight(seen, x.dtype)) + copies.stacked(f"convs.{i}.bias").unsqueeze(1)
    return x


def _mlp_begin(copies: Copies, graph: Graph) -> Tensor:
    return _mapped(copies, _features(copies, graph), "maps.0")


def _mlp_finish(copies: Copies, graph: Graph, x: Tensor) -> Tensor:
    model = copies.first
    for i in range(1, len(model.maps)):
        active = i > 1 or model.first_activation
        x = _mapped(copies, x.relu() if active else x, f"maps.{i}", share=model.dropout if active else 0.0)
    return x


def _appnp_finish(copies: Copies, graph: Graph, features: Same) -> Tensor:
    seen, model = _seen(copies, graph), copies.first
    x = _mapped(copies, features, "maps.0", share=model.dropout)
    for i in range(1, len(model.maps)):
        x = _mapped(copies, x.relu(), f"maps.{i}", share=model.dropout)
    weight = symmetric_weight(seen, x.dtype)
    z = start = x
    for _ in range(model.steps):
        if copies.training and model.edge_dropout:
            summed = _summed(seen, z, weight * copies.noise(weight.shape, model.edge_dropout, weight.dtype))
        else:
            summed = _summed(seen, z, weight)
        z = summed.lerp(start, model.alpha)
    return z


def _gat_finish(copies: Copies, graph: Graph, features: Same) -> Tensor:
    """Let the heads of all copies attend side by side."""
    seen, model, count = _seen(copies, graph), copies.first, len(copies.models)
    sender, receiver = seen.edge_index
    heard: Tensor | Same = features
    for i, layer in enumerate(model.layers):
        _, heads, width = layer.source.shape
        z = _mapped(copies, heard, f"layers.{i}.linear", share=model.dropout, bias=False)
        z = z.transpose(0, 1).reshape(graph.batch.num_nodes, count * heads, width)
        source, target = (copies.stacked(f"layers.{i}.{end}").reshape(-1, width) for end in ("source", "target"))
        if copies.training and model.dropout:
            scores = (z * source).sum(dim=2).index_select(0, sender) + (z * target).sum(dim=2).index_select(0, receiver)
            shares = edge_softmax(seen, F.leaky_relu(scores, SLOPE)).view(-1, count, heads)
            kept = copies.drop(shares.transpose(0, 1), model.dropout).transpose(0, 1)
            out = aggregate(seen, z, "sum", kept.reshape(-1, count * heads))
        else:
            out = attention(seen, z, source, target, SLOPE)
        answer = out.reshape(graph.batch.num_nodes, count, heads * width).transpose(0, 1)
        heard = F.elu(answer)
    return answer
