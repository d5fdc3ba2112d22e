"""SAN's attention against its equation, pair by pair."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.attention_oracles import attend, edges_into, others_of
from tests.helpers.layers import directed
from tests.helpers.samples import Graph, batch_of, vectors

from graphtrial.nn.attention.pair_attention import PairAttention, gamma_weights

WIDTH, HEADS = 8, 2


@directed
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("constant", [True, False])
def test_attention_equals_its_equation(given: list[Graph], full: bool, constant: bool) -> None:
    batch = batch_of(given)
    torch.manual_seed(0)
    layer = PairAttention(WIDTH, WIDTH, HEADS, full_graph=full).double()
    for linear in (layer.Q, layer.K):
        linear.weight.data *= 4  # so that some scores are clamped
    x, other = vectors(batch.num_nodes, WIDTH), vectors(1, WIDTH, seed=3)
    e = vectors(1 if constant else batch.num_edges, WIDTH, seed=2)
    gamma = torch.tensor(0.3, dtype=torch.float64)
    got = layer(batch, x, e, other, gamma_weights(batch, gamma) if full else None)
    query, key, value, edge = layer.Q(x), layer.K(x), layer.V(x), layer.E(e).expand(batch.num_edges, -1)
    for node in range(batch.num_nodes):
        adjacent = {u for _, u in edges_into(batch, node)}
        factor = 1 / 1.3 if full else 1.0
        pairs = [(u, query[node] * key[u] * edge[at], factor) for at, u in edges_into(batch, node)]
        if full:
            fake = layer.Q2(x)[node] * layer.K2(x) * layer.E2(other)
            pairs += [(u, fake[u], 0.3 / 1.3) for u in others_of(batch, node) if u not in adjacent]
        torch.testing.assert_close(got[node], attend(pairs, value, HEADS, 1e-6))
