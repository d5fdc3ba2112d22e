"""Sums and dot products over the endpoints of edges, against plain indexing."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.layers import directed
from tests.helpers.samples import DEGENERATE, Graph, batch_of, random_graphs, vectors

from graphtrial.ops.edge_ops import edge_add, sddmm, sddmm_reference
from graphtrial.ops.sparse_matrix import adjacency, virtual_membership


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
@pytest.mark.parametrize("transposed", [False, True])
def test_sddmm_and_its_gradient_equal_the_reference(given: list[Graph], transposed: bool) -> None:
    batch = batch_of(given)
    for matrix in (adjacency(batch), virtual_membership(batch, 2)):
        matrix = matrix.transpose() if transposed else matrix
        sizes, results = (len(matrix.rowptr) - 1, len(matrix.colptr) - 1), []
        for function in (sddmm, sddmm_reference):
            left, right = (vectors(n, 6, at).view(-1, 2, 3).requires_grad_() for at, n in enumerate(sizes))
            out = function(matrix, left, right)
            (out * torch.arange(out.numel(), dtype=out.dtype).view(out.shape)).sum().backward()
            results.append((out.detach(), left.grad, right.grad))
        assert results[0][0].shape == (len(matrix.col), 2)
        for ours, theirs in zip(*results, strict=True):
            torch.testing.assert_close(ours, theirs)
