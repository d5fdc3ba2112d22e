"""Sums and dot products over the endpoints of edges, against plain indexing."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.layers import directed
from tests.helpers.samples import DEGENERATE, Graph, batch_of, random_graphs, vectors

from graphtrial.ops.edge_ops import edge_add, edge_dot, edge_dot_reference


@pytest.mark.parametrize(
    "graphs", [DEGENERATE, random_graphs(6, 1), [(3, [])]], ids=["degenerate", "random", "no edges"]
)
def test_edge_add_and_its_gradient_equal_indexing(graphs: list[Graph]) -> None:
    batch = batch_of(graphs)
    left, right = (vectors(batch.num_nodes, 5, seed).requires_grad_() for seed in (0, 1))
    source, target = batch.edge_index
    expected = left[source] + right[target]
    out = edge_add(batch, left, right)
    torch.testing.assert_close(out, expected)
    weight = vectors(batch.num_edges, 5, seed=2)
    ours = torch.autograd.grad((out * weight).sum(), (left, right))
    theirs = torch.autograd.grad((expected * weight).sum(), (left, right))
    torch.testing.assert_close(ours, theirs)


def test_edge_add_gradients_equal_finite_differences() -> None:
    batch = batch_of(random_graphs(3, 4))
    endpoints = tuple(vectors(batch.num_nodes, 2, seed).requires_grad_() for seed in (0, 1))
    assert torch.autograd.gradcheck(lambda a, b: edge_add(batch, a, b), endpoints)


@directed
def test_edge_dot_and_its_gradient_equal_the_reference(given: list[Graph]) -> None:
    batch = batch_of(given)
    results = []
    for function in (edge_dot, edge_dot_reference):
        target, source = (vectors(batch.num_nodes, 6, seed).view(-1, 2, 3).requires_grad_() for seed in (0, 1))
        out = function(batch, target, source)
        (out * torch.arange(out.numel(), dtype=out.dtype).view(out.shape)).sum().backward()
        results.append((out.detach(), target.grad, source.grad))
    assert results[0][0].shape == (batch.num_edges, 2)
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs)
