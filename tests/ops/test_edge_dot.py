"""Products along edges against plain torch."""

from __future__ import annotations

import torch
from tests.helpers.layers import directed
from tests.helpers.samples import Graph, batch_of, vectors

from graphtrial.ops.dot import edge_dot, edge_dot_reference


@directed
def test_products_and_their_gradients_equal_the_reference(given: list[Graph]) -> None:
    batch = batch_of(given)
    found = []
    for function in (edge_dot, edge_dot_reference):
        target, source = (vectors(batch.num_nodes, 6, seed).view(-1, 2, 3).requires_grad_() for seed in (0, 1))
        out = function(batch, target, source)
        (out * torch.arange(out.numel(), dtype=out.dtype).view(out.shape)).sum().backward()
        found.append((out.detach(), target.grad, source.grad))
    assert found[0][0].shape == (batch.num_edges, 2)
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs)
