"""The vectors at both ends of each edge, against plain indexing."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.samples import AWKWARD, Graph, batch_of, random_graphs, vectors

from graphtrial.ops import sum_of_ends


@pytest.mark.parametrize("graphs", [AWKWARD, random_graphs(6, 1), [(3, [])]], ids=["awkward", "random", "no edges"])
def test_the_sum_of_both_ends_and_its_gradient(graphs: list[Graph]) -> None:
    batch = batch_of(graphs)
    left, right = (vectors(batch.num_nodes, 5, seed).requires_grad_() for seed in (0, 1))
    source, target = batch.edge_index
    expected = left[source] + right[target]
    out = sum_of_ends(batch, left, right)
    torch.testing.assert_close(out, expected)
    weight = vectors(batch.num_edges, 5, seed=2)
    ours = torch.autograd.grad((out * weight).sum(), (left, right))
    theirs = torch.autograd.grad((expected * weight).sum(), (left, right))
    torch.testing.assert_close(ours, theirs)


def test_gradcheck() -> None:
    batch = batch_of(random_graphs(3, 4))
    ends = tuple(vectors(batch.num_nodes, 2, seed).requires_grad_() for seed in (0, 1))
    assert torch.autograd.gradcheck(lambda a, b: sum_of_ends(batch, a, b), ends)
