"""Prediction heads: node states -> logits of graphs, nodes, edges or node pairs."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.layers import Linear
from graphtrial.nn.readout import Pool
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import edge_add, linear

CHUNK = 1 << 20
"""Pairs that are scored at a time in an evaluation, where a link may have a thousand candidates."""


def halving_mlp(width: int, outputs: int) -> nn.Sequential:
    """Return the MLP width -> width/2 -> width/4 -> outputs with ReLU, the head of the benchmark's models."""
    if width < 4:
        raise GraphTrialError(f"the head halves the width twice, so a width of {width} leaves nothing: use 4 or more")
    half, quarter = width // 2, width // 4
    return nn.Sequential(Linear(width, half), nn.ReLU(), Linear(half, quarter), nn.ReLU(), Linear(quarter, outputs))


def make_head(shapes: Shapes, width: int, layers: int, *, readout: str, layer_heads: bool) -> nn.Module:
    """Return the prediction head for the level of the task.

    With `layer_heads` every depth, the input included, has a head of its own, whose logits are summed; otherwise one
    MLP reads the last state. Pairs are always scored by one MLP, as in the reference.
    """
    depths = layers + 1 if layer_heads else 1
    if shapes.level == "graph":
        return GraphHead(width, shapes.outputs, depths, readout, layer_heads=layer_heads)
    if shapes.level == "node":
        return NodeHead(width, shapes.outputs, depths, layer_heads=layer_heads)
    if shapes.level == "edge":
        return EdgeHead(width, shapes.outputs, depths, layer_heads=layer_heads)
    if shapes.level == "pair":
        return PairHead(width, shapes.outputs)
    return NodeAndGraphHead(width, shapes.outputs, depths, readout, layer_heads=layer_heads)


class GraphHead(nn.Module):
    """Pooling and MLP per graph. states: [nodes, width] each -> [graphs, outputs]."""

    def __init__(self, width: int, outputs: int, depths: int, readout: str, *, layer_heads: bool) -> None:
        super().__init__()
        self.pool = Pool(readout, width)
        self.maps = _maps(self.pool.width, outputs, depths, layer_heads=layer_heads)

    def forward(self, graph: GraphBatch, states: list[Tensor]) -> Tensor:
        return _sum_of_logits(self.maps, [self.pool(graph, state) for state in states[-len(self.maps) :]])

    def score_pooled(self, x: Tensor) -> Tensor:
        """Return the logits of states that are already one per graph. x: [graphs, width] -> [graphs, outputs]."""
        if self.pool.set2set is not None:
            raise GraphTrialError("this model pools by itself: set readout=mean, sum or max, which is then not used")
        return _sum_of_logits(self.maps, [x])


class NodeHead(nn.Module):
    """MLP per node. states: [nodes, width] each -> [nodes, outputs]."""

    def __init__(self, width: int, outputs: int, depths: int, *, layer_heads: bool) -> None:
        super().__init__()
        self.maps = _maps(width, outputs, depths, layer_heads=layer_heads)

    def forward(self, graph: GraphBatch, states: list[Tensor]) -> Tensor:
        return _sum_of_logits(self.maps, states[-len(self.maps) :])


class NodeAndGraphHead(nn.Module):
    """Logits of nodes, then of graphs, concatenated. states: [nodes, width] each -> [nodes + graphs, outputs]."""

    def __init__(self, width: int, outputs: int, depths: int, readout: str, *, layer_heads: bool) -> None:
        super().__init__()
        self.of_nodes = NodeHead(width, outputs, depths, layer_heads=layer_heads)
        self.of_graphs = GraphHead(width, outputs, depths, readout, layer_heads=layer_heads)

    def forward(self, graph: GraphBatch, states: list[Tensor]) -> Tensor:
        return torch.cat([self.of_nodes(graph, states), self.of_graphs(graph, states)])


class EdgeHead(nn.Module):
    """MLP on the concatenated states of both endpoints of edges. states: [nodes, width] each -> [edges, outputs]."""

    def __init__(self, width: int, outputs: int, depths: int, *, layer_heads: bool) -> None:
        super().__init__()
        self.maps = nn.ModuleList(
            PairMLP(nn.Sequential(Linear(2 * width, width), nn.ReLU(), Linear(width, outputs)))
            if layer_heads
            else PairMLP(halving_mlp(2 * width, outputs))
            for _ in range(depths)
        )

    def forward(self, graph: GraphBatch, states: list[Tensor]) -> Tensor:
        pairs = zip(self.maps, states[-len(self.maps) :], strict=True)
        logits = [cast(PairMLP, mlp).score_edges(graph, state) for mlp, state in pairs]
        return sum(logits[1:], logits[0])


class PairHead(nn.Module):
    """Link decoder: MLP on both nodes of each candidate pair. states: [nodes, width] each -> [pairs, outputs]."""

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.map = PairMLP(halving_mlp(2 * width, outputs))

    def forward(self, graph: GraphBatch, states: list[Tensor]) -> Tensor:
        pairs = graph.columns.get("pairs")
        if pairs is None:
            raise GraphTrialError("this model scores pairs of nodes, but the batch has no column 'pairs'")
        return self.map.score_pairs(states[-1], pairs)


class PairMLP(nn.Module):
    """MLP on the concatenated states [x_s, x_t] of source and target.

    The first layer is linear, so its two halves are applied once per node, as source and as target, and summed per
    pair before the rest of the MLP. x: [nodes, width] -> [edges or pairs, outputs].
    """

    def __init__(self, mlp: nn.Sequential) -> None:
        super().__init__()
        self.first = cast(Linear, mlp[0])
        self.rest = mlp[1:]

    def score_edges(self, graph: GraphBatch, x: Tensor) -> Tensor:
        """Return the logits of each edge, [edges, outputs]."""
        logits: Tensor = self.rest(edge_add(graph, *self._endpoints(x)))
        return logits

    def score_pairs(self, x: Tensor, pairs: Tensor) -> Tensor:
        """Return the logits of the pairs [pairs, 2], [pairs, outputs]; many are evaluated in chunks, to save memory."""
        source, target = self._endpoints(x)
        chunks = [pairs] if torch.is_grad_enabled() or len(pairs) <= CHUNK else pairs.split(CHUNK)
        logits: list[Tensor] = [
            self.rest(source.index_select(0, chunk[:, 0]) + target.index_select(0, chunk[:, 1])) for chunk in chunks
        ]
        return logits[0] if len(logits) == 1 else torch.cat(logits)

    def _endpoints(self, x: Tensor) -> tuple[Tensor, Tensor]:
        source_weight, target_weight = self.first.weight.chunk(2, dim=1)
        return linear(x, source_weight, self.first.bias), linear(x, target_weight)


def _maps(width: int, outputs: int, depths: int, *, layer_heads: bool) -> nn.ModuleList:
    return nn.ModuleList(Linear(width, outputs) if layer_heads else halving_mlp(width, outputs) for _ in range(depths))


def _sum_of_logits(maps: nn.ModuleList, states: list[Tensor]) -> Tensor:
    logits: list[Tensor] = [head(state) for head, state in zip(maps, states, strict=True)]
    return sum(logits[1:], logits[0])
