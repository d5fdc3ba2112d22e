"""From pairs of nodes to graphs and nodes, graph by graph."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.dense_oracles import batched, bucket_of

from graphtrial.nn.dense.readout import diagonal_and_rest_maximum, graph_sum, node_sum

SIZES = [3, 1, 4, 2]
GENERATOR = torch.Generator().manual_seed(0)
GRAPHS = [torch.randn(3, n, n, dtype=torch.float64, generator=GENERATOR) - 5 for n in SIZES]


@pytest.mark.parametrize("junk", [0.0, 100.0])
def test_max_readout_matches_single_graphs(junk: float) -> None:
    state, bucket = batched(GRAPHS), bucket_of(SIZES)
    for at, n in enumerate(SIZES):
        state[:, at, n:] = junk
        state[:, at, :, n:] = junk
    actual = diagonal_and_rest_maximum(state.flatten(1), 3, bucket)
    for at, (n, h) in enumerate(zip(SIZES, GRAPHS, strict=True)):
        for channel in range(3):
            pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
            assert actual[at, channel] == max(h[channel, i, i] for i in range(n))
            assert actual[at, 3 + channel] == max((h[channel, i, j] for i, j in pairs), default=0)


def test_sum_readout_matches_single_graphs() -> None:
    state, bucket = batched(GRAPHS), bucket_of(SIZES)
    torch.testing.assert_close(graph_sum(state, bucket), torch.stack([h.sum((1, 2)) for h in GRAPHS]))
    state[:, 0, 3] = 7  # padding
    torch.testing.assert_close(node_sum(state, bucket), torch.cat([h.sum(1).T for h in GRAPHS]))


def test_max_gradient_flows_to_the_argmax() -> None:
    state, bucket = batched(GRAPHS).flatten(1).requires_grad_(), bucket_of(SIZES)
    assert torch.autograd.gradcheck(lambda h: diagonal_and_rest_maximum(h, 2, bucket), (state,))
