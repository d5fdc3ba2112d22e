"""Graphormer 1.0 against its equations, pair by pair."""

from __future__ import annotations

import math
from itertools import pairwise

import networkx as nx
import pytest
import torch
from tests.helpers.samples import batch_of, random_graphs
from torch import Tensor
from torch.nn import functional as F

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn import Shapes, build_model
from graphtrial.nn.models.graphormer import Graphormer

SHAPES = Shapes(outputs=2, level="graph", node_types=28, edge_types=4)
TREE = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), (2, 4), (4, 2)]
"""A tree, in which every shortest path is the only one."""


def build(batch: GraphBatch) -> Graphormer:
    """A model whose weights are far from their start."""
    torch.manual_seed(0)
    model = build_model("graphormer", SHAPES, {"width": 16, "layers": 2, "heads": 2, "edge_features": True}).double()
    for parameter in model.parameters():
        parameter.data += torch.randn_like(parameter) / 3
    return model.eval()


def bias(model: Graphormer, batch: GraphBatch) -> Tensor:
    """The biases of all pairs, [heads, 1 + nodes, 1 + nodes], the token first."""
    pairs, nodes = model.pair_bias, batch.num_nodes
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    kinds = dict(zip(map(tuple, batch.edge_index.T.tolist()), batch.edge_attr.tolist(), strict=True))
    graph.add_edges_from(kinds)
    out = pairs.token.reshape(-1, 1, 1).expand(-1, nodes + 1, nodes + 1).clone()
    for i in range(nodes):
        for j in range(nodes):
            path = nx.shortest_path(graph, i, j) if nx.has_path(graph, i, j) else None
            length = 38 if path is None else len(path) - 1
            value = pairs.distance.weight[length + 1]
            for hop, edge in enumerate(pairwise(path) if path else []):
                value = value + pairs.edge.weight[kinds[edge] + 1] @ pairs.hop[hop] / max(1, length)
            out[:, 1 + i, 1 + j] = value
    return out


def test_forward_pass_equals_the_equations() -> None:
    batch = batch_of([(6, TREE)])
    model = build(batch)
    biases = bias(model, batch)
    degree = batch.in_degree
    x = model.input.feature.weight[batch.x + 1] + model.degrees.in_degree(degree) + model.degrees.out_degree(degree)
    x = torch.cat([model.token.state, x])
    for block in model.blocks:
        normed = block.attention_norm(x)
        query, key, value = block.attention.projection(normed).view(-1, 3, 2, 8).unbind(dim=1)
        attended = []
        for head in range(2):
            scores = query[:, head] @ key[:, head].T / math.sqrt(8) + biases[head]
            attended.append(scores.softmax(dim=1) @ value[:, head])
        x = x + block.attention.output(torch.cat(attended, dim=1))
        norm, first, _, _, second, _ = block.mlp
        x = x + second(F.gelu(first(norm(x))))
    torch.testing.assert_close(model(batch), model.head(x[:1]))


def test_initialization_matches_the_released_code() -> None:
    torch.manual_seed(0)
    model = build_model("graphormer", SHAPES, {"width": 80, "layers": 4, "edge_features": True})
    torch.testing.assert_close(model.blocks[0].mlp[1].weight.std().item(), 0.01, rtol=0.05, atol=0)
    torch.testing.assert_close(model.input.feature.weight.std().item(), 0.02, rtol=0.05, atol=0)
    assert not model.blocks[0].mlp[1].bias.any()


@pytest.mark.parametrize(("field", "subject"), [("node_types", "node"), ("edge_types", "edge")])
def test_more_than_63_types_raise(field: str, subject: str) -> None:
    sizes = {"node_types": 28, "edge_types": 4, field: 64}
    with pytest.raises(GraphTrialError, match=f"graphormer has room for 63 {subject} types, not for 64"):
        build_model("graphormer", Shapes(1, "graph", **sizes), {"width": 16, "edge_features": True})


def test_output_does_not_depend_on_longer_paths_of_other_graphs() -> None:
    path = [(i, i + 1) for i in range(8)] + [(i + 1, i) for i in range(8)]
    short, both = batch_of([(6, TREE)]), batch_of([(6, TREE), (9, path), *random_graphs(2, seed=0)])
    model = build(short)
    columns = {name: both.columns[name][: len(values)] for name, values in short.columns.items()}
    torch.testing.assert_close(model(short.with_columns(columns))[0], model(both)[0])
