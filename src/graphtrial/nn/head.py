"""From node vectors to the outputs of the task, whatever it asks about."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.readout import Pool
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import edge_add


def halving_mlp(width: int, outputs: int) -> nn.Sequential:
    """Return the papers' head: width -> width/2 -> width/4 -> outputs, ReLU between."""
    if width < 4:
        raise GraphTrialError(f"the head halves the width twice, so a width of {width} leaves nothing: use 4 or more")
    half, quarter = width // 2, width // 4
    return nn.Sequential(
        nn.Linear(width, half), nn.ReLU(), nn.Linear(half, quarter), nn.ReLU(), nn.Linear(quarter, outputs)
    )


def make_head(shapes: Shapes, width: int, layers: int, *, readout: str, layer_heads: bool) -> nn.Module:
    """Return the head that turns the states of all depths into answers of the level that the task asks about.

    With `layer_heads` every depth, the input included, has a small head of its own, and the answers are added up;
    otherwise one MLP hears the last state. Pairs are always scored by one MLP, as in the reference.
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
    """Pools each state and maps it to the outputs. states: [nodes, width] each -> [graphs, outputs]."""

    def __init__(self, width: int, outputs: int, depths: int, readout: str, *, layer_heads: bool) -> None:
        super().__init__()
        self.pool = Pool(readout, width)
        self.maps = _maps(self.pool.width, outputs, depths, layer_heads=layer_heads)

    def forward(self, graph: GraphBatch, states: list[Tensor]) -> Tensor:
        return _sum_of_answers(self.maps, [self.pool(graph, state) for state in states[-len(self.maps) :]])


class NodeHead(nn.Module):
    """Maps the vector of each node to the outputs. states: [nodes, width] each -> [nodes, outputs]."""

    def __init__(self, width: int, outputs: int, depths: int, *, layer_heads: bool) -> None:
        super().__init__()
        self.maps = _maps(width, outputs, depths, layer_heads=layer_heads)

    def forward(self, graph: GraphBatch, states: list[Tensor]) -> Tensor:
        return _sum_of_answers(self.maps, states[-len(self.maps) :])


class NodeAndGraphHead(nn.Module):
    """Answers for nodes, then for graphs, in one table. states: [nodes, width] each -> [nodes + graphs, outputs]."""

    def __init__(self, width: int, outputs: int, depths: int, readout: str, *, layer_heads: bool) -> None:
        super().__init__()
        self.of_nodes = NodeHead(width, outputs, depths, layer_heads=layer_heads)
        self.of_graphs = GraphHead(width, outputs, depths, readout, layer_heads=layer_heads)

    def forward(self, graph: GraphBatch, states: list[Tensor]) -> Tensor:
        return torch.cat([self.of_nodes(graph, states), self.of_graphs(graph, states)])


class EdgeHead(nn.Module):
    """Maps the vectors at both ends of each edge to the outputs. states: [nodes, width] each -> [edges, outputs]."""

    def __init__(self, width: int, outputs: int, depths: int, *, layer_heads: bool) -> None:
        super().__init__()
        self.maps = nn.ModuleList(
            PairMap(nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, outputs)))
            if layer_heads
            else PairMap(halving_mlp(2 * width, outputs))
            for _ in range(depths)
        )

    def forward(self, graph: GraphBatch, states: list[Tensor]) -> Tensor:
        heard = zip(self.maps, states[-len(self.maps) :], strict=True)
        answers = [cast(PairMap, pair_map).of_edges(graph, state) for pair_map, state in heard]
        return sum(answers[1:], answers[0])


class PairHead(nn.Module):
    """Scores the pairs of nodes that a batch asks about. states: [nodes, width] each -> [pairs, outputs]."""

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.map = PairMap(halving_mlp(2 * width, outputs))

    def forward(self, graph: GraphBatch, states: list[Tensor]) -> Tensor:
        pairs = graph.columns.get("pairs")
        if pairs is None:
            raise GraphTrialError("this model scores pairs of nodes, but the batch has no column 'pairs'")
        return self.map.of_pairs(states[-1], pairs)


class PairMap(nn.Module):
    """An MLP on the joined vectors of source and target, [x_s, x_t].

    Its first map is linear, so one half of it is applied to each node as a source and the other half as a target; the
    sum of the two, for each pair, goes through the rest. x: [nodes, width] -> [edges or pairs, outputs].
    """

    def __init__(self, mlp: nn.Sequential) -> None:
        super().__init__()
        self.first = cast(nn.Linear, mlp[0])
        self.rest = mlp[1:]

    def of_edges(self, graph: GraphBatch, x: Tensor) -> Tensor:
        """Return the answer for each edge."""
        return self.rest(edge_add(graph, *self._ends(x)))

    def of_pairs(self, x: Tensor, pairs: Tensor) -> Tensor:
        """Return the answer for each of the pairs, [pairs, 2]."""
        of_source, of_target = self._ends(x)
        return self.rest(of_source.index_select(0, pairs[:, 0]) + of_target.index_select(0, pairs[:, 1]))

    def _ends(self, x: Tensor) -> tuple[Tensor, Tensor]:
        of_source, of_target = self.first.weight.chunk(2, dim=1)
        return F.linear(x, of_source, self.first.bias), F.linear(x, of_target)


def _maps(width: int, outputs: int, depths: int, *, layer_heads: bool) -> nn.ModuleList:
    made = [nn.Linear(width, outputs) if layer_heads else halving_mlp(width, outputs) for _ in range(depths)]
    return nn.ModuleList(made)


def _sum_of_answers(maps: nn.ModuleList, states: list[Tensor]) -> Tensor:
    answers = [answer(state) for answer, state in zip(maps, states, strict=True)]
    return sum(answers[1:], answers[0])
