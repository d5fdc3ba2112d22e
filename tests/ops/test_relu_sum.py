"""Sum of ReLU over in-neighbours, against plain indexing."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.layers import directed
from tests.helpers.samples import Graph, batch_of, random_graphs, vectors
from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.ops import relu_sum
from graphtrial.ops.portable import portable_path


def indexed(graph: GraphBatch, x: Tensor, e: Tensor, scale: Tensor | None, add_self: bool) -> Tensor:
    source, target = graph.edge_index
    messages = (x[source] + e).relu() * (1 if scale is None else scale[source])
    summed = torch.zeros_like(x).index_add(0, target, messages)
    return summed + x if add_self else summed


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("rows", ["edges", "one"])
@directed
def test_values_and_gradients_equal_indexing(given: list[Graph], rows: str, scaled: bool, portable: bool) -> None:
    graph = batch_of(given)
    x = vectors(graph.num_nodes, 5).requires_grad_()
    e = vectors(graph.num_edges if rows == "edges" else 1, 5, seed=1).requires_grad_()
    scale = vectors(graph.num_nodes, 1, seed=2) if scaled else None
    weight = vectors(graph.num_nodes, 5, seed=3)
    for add_self in (False, True):
        expected = indexed(graph, x, e, scale, add_self)
        with portable_path(portable):
            out = relu_sum(graph, x, e, scale, add_self=add_self)
        torch.testing.assert_close(out, expected)
        ours = torch.autograd.grad((out * weight).sum(), (x, e))
        torch.testing.assert_close(ours, torch.autograd.grad((expected * weight).sum(), (x, e)))


def test_bits_are_those_of_messages_in_memory() -> None:
    """Results of earlier versions, which materialised the messages, are reproduced to the bit."""
    graph = batch_of(random_graphs(8, 3))
    x, e = (vectors(n, 24, seed).float().requires_grad_() for n, seed in ((graph.num_nodes, 0), (graph.num_edges, 1)))
    g = vectors(graph.num_nodes, 24, seed=2).float()
    messages = (x.index_select(0, graph.edge_index[0]) + e).relu()
    summed = torch.zeros_like(x).index_add(0, graph.edge_index[1], messages)
    expected = summed, *torch.autograd.grad(summed, (x, e), g)
    out = relu_sum(graph, x, e)
    for ours, theirs in zip((out, *torch.autograd.grad(out, (x, e), g)), expected, strict=True):
        assert torch.equal(ours, theirs)


def test_nan_is_kept() -> None:
    graph = batch_of([(2, [(0, 1)])])
    x = torch.tensor([[float("nan")], [1.0]])
    assert relu_sum(graph, x, torch.zeros(1, 1)).isnan().tolist() == [[False], [True]]
