"""Several models of one kind on one graph at once: sums over neighbours and products with the features are shared.

The answers of all copies to one question are computed as one tensor, [copies, nodes, width]; for a sum over neighbours
the vectors of all copies of a node are put side by side, so that one pass over the edges serves all of them. What does
not depend on any weights, the features summed over neighbours, is computed once and for all. Each copy draws its random
numbers from a generator of its own, the same ones as if it were alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
from graphtrial.ops import aggregate, attention, edge_softmax, feature_linear, keep_noise, symmetric_weight


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
        return x * self.noise(x[0], share)

    def noise(self, like: Tensor, share: float) -> Tensor:
        """Return what multiplies a tensor like this one of each copy: 0 for what is dropped, more than 1 else."""
        return torch.stack([keep_noise(like, share, generator) for generator in self.generators])


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


def _features(copies: Copies, graph: Graph) -> Tensor:
    dtype = next(copies.first.parameters()).dtype
    return graph.keep(f"features {dtype}", lambda: raw_nodes(graph.batch, copies.first.shapes, dtype))


def _seen(copies: Copies, graph: Graph) -> GraphBatch:
    return with_self_loops(graph.batch) if copies.first.self_loops else graph.batch


def _mapped(copies: Copies, x: Tensor, name: str, *, share: float = 0.0, bias: bool = True) -> Tensor:
    """Map x by the weights of each copy, after a share of it is dropped: [copies, nodes, outputs].

    x is [copies, nodes, inputs], or the same [nodes, inputs] for all: then one product serves all copies, unless each
    drops something else of it.
    """
    weight, offset = copies.stacked(f"{name}.weight"), copies.stacked(f"{name}.bias") if bias else None
    if x.dim() == 3:
        out = torch.bmm(copies.drop(x, share), weight.transpose(1, 2))
        return out if offset is None else out + offset.unsqueeze(1)
    if copies.training and share:
        offsets = [None] * len(weight) if offset is None else offset
        each = zip(weight, offsets, copies.generators, strict=True)
        return torch.stack([feature_linear(x, w, b, share, generator) for w, b, generator in each])
    flat = feature_linear(x, weight.flatten(0, 1), None if offset is None else offset.flatten())
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
    seen, x = _seen(copies, graph), _features(copies, graph)
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


def _appnp_finish(copies: Copies, graph: Graph, features: Tensor) -> Tensor:
    seen, model = _seen(copies, graph), copies.first
    x = _mapped(copies, features, "maps.0", share=model.dropout)
    for i in range(1, len(model.maps)):
        x = _mapped(copies, x.relu(), f"maps.{i}", share=model.dropout)
    weight = symmetric_weight(seen, x.dtype)
    z = start = x
    for _ in range(model.steps):
        if copies.training and model.edge_dropout:
            summed = _summed(seen, z, weight * copies.noise(weight, model.edge_dropout))
        else:
            summed = _summed(seen, z, weight)
        z = summed.lerp(start, model.alpha)
    return z


def _gat_finish(copies: Copies, graph: Graph, features: Tensor) -> Tensor:
    """Let the heads of all copies attend side by side."""
    seen, model, count = _seen(copies, graph), copies.first, len(copies.models)
    sender, receiver = seen.edge_index
    heard = features
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
