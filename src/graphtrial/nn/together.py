"""Several models of one kind on one graph at once: sums over neighbours and products with the features are shared.

The vectors of all copies of a node stand side by side, [nodes, copies, width], so that one pass over the edges serves
all of them. What does not depend on any weights, the features summed over neighbours, is computed once and for all.
Each copy draws its random numbers from a generator of its own, the same ones as if it were alone.
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
from graphtrial.ops import aggregate, attention, edge_softmax, linear, symmetric_weight
from graphtrial.ops.csr import edges
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

    def drop(self, x: Tensor, share: float) -> Tensor:
        """Drop a share of x, [rows, copies, width], or of [rows, width], of which each copy then has its own."""
        if not (self.training and share):
            return x
        shape = (x.shape[0], *x.shape[2:]) if x.dim() == 3 else x.shape
        noise = [torch.empty(shape, dtype=x.dtype).bernoulli_(1 - share, generator=g) for g in self.generators]
        return (x if x.dim() == 3 else x.unsqueeze(1)) * torch.stack(noise, dim=1).div_(1 - share)


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

    begin: Callable[[Copies, Graph], Tensor]
    finish: Callable[[Copies, Graph, Tensor], Tensor]


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


def _of_all(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Map the same x [rows, inputs] by the weights of all copies [copies, outputs, inputs]."""
    out = linear(x, weight.flatten(0, 1), None if bias is None else bias.flatten())
    return out.view(len(x), len(weight), -1)


def _of_each(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Map x [rows, copies, inputs], each copy by its own weights."""
    out = torch.bmm(x.transpose(0, 1), weight.transpose(1, 2)).transpose(0, 1)
    return out if bias is None else out + bias


def _mapped(copies: Copies, x: Tensor, name: str, *, bias: bool = True) -> Tensor:
    of_copies = _of_all if x.dim() == 2 else _of_each
    return of_copies(x, copies.stacked(f"{name}.weight"), copies.stacked(f"{name}.bias") if bias else None)


def _gcn_begin(copies: Copies, graph: Graph) -> Tensor:
    """Return the first convolution: the sum over neighbours does not know the weights, and is there already."""
    seen, x = _seen(copies, graph), _features(copies, graph)
    summed = graph.keep(f"summed {x.dtype}", lambda: aggregate(seen, x, "sum", symmetric_weight(seen, x.dtype)))
    return _mapped(copies, summed, "convs.0")


def _gcn_finish(copies: Copies, graph: Graph, x: Tensor) -> Tensor:
    seen, model = _seen(copies, graph), copies.first
    for i in range(1, len(model.convs)):
        z = _mapped(copies, copies.drop(x.relu(), model.dropout), f"convs.{i}", bias=False)
        flat = aggregate(seen, z.flatten(1), "sum", symmetric_weight(seen, x.dtype))
        x = flat.view(z.shape) + copies.stacked(f"convs.{i}.bias")
    return x


def _mlp_begin(copies: Copies, graph: Graph) -> Tensor:
    return _mapped(copies, _features(copies, graph), "maps.0")


def _mlp_finish(copies: Copies, graph: Graph, x: Tensor) -> Tensor:
    model = copies.first
    for i in range(1, len(model.maps)):
        if i > 1 or model.first_activation:
            x = copies.drop(x.relu(), model.dropout)
        x = _mapped(copies, x, f"maps.{i}")
    return x


def _appnp_finish(copies: Copies, graph: Graph, x: Tensor) -> Tensor:
    seen, model = _seen(copies, graph), copies.first
    for i in range(len(model.maps)):
        x = _mapped(copies, copies.drop(x.relu() if i else x, model.dropout), f"maps.{i}")
    weight = symmetric_weight(seen, x.dtype)
    z = start = x.contiguous()
    for _ in range(model.steps):
        kept = copies.drop(weight.unsqueeze(1), model.edge_dropout)
        if kept.dim() == 3:
            z = weighted_sum(edges(seen), z, kept.squeeze(2))
        else:
            z = aggregate(seen, z.flatten(1), "sum", weight).view(start.shape)
        z = z.lerp(start, model.alpha)
    return z


def _gat_finish(copies: Copies, graph: Graph, x: Tensor) -> Tensor:
    """Let the heads of all copies attend side by side."""
    seen, model, count = _seen(copies, graph), copies.first, len(copies.models)
    sender, receiver = seen.edge_index
    for i, layer in enumerate(model.layers):
        _, heads, width = layer.source.shape
        z = _mapped(copies, copies.drop(F.elu(x) if i else x, model.dropout), f"layers.{i}.linear", bias=False)
        z = z.reshape(len(z), count * heads, width)
        source, target = (copies.stacked(f"layers.{i}.{end}").reshape(-1, width) for end in ("source", "target"))
        if copies.training and model.dropout:
            scores = (z * source).sum(dim=2).index_select(0, sender) + (z * target).sum(dim=2).index_select(0, receiver)
            shares = edge_softmax(seen, F.leaky_relu(scores, SLOPE)).view(-1, count, heads)
            x = aggregate(seen, z, "sum", copies.drop(shares, model.dropout).flatten(1))
        else:
            x = attention(seen, z, source, target, SLOPE)
        x = x.reshape(len(x), count, heads * width)
    return x
