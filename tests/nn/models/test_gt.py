"""The graph transformer against PyG's layer with the same weights, and against its equations node by node."""

from __future__ import annotations

import hashlib

import pytest
import torch
from tests.helpers.attention_oracles import attend, edges_into, others_of
from tests.helpers.layers import directed
from tests.helpers.samples import DEGENERATE, Graph, batch_of, random_graphs, vectors
from torch import nn
from torch_geometric.nn import TransformerConv

from graphtrial.graphs.degree_roles import degree_roles
from graphtrial.graphs.pairs.without_loops import complete_without_loops
from graphtrial.nn import Shapes, build_model
from graphtrial.nn.models.gt import GTLayer

WIDTH, HEADS = 8, 2


class Only(nn.Module):
    """In place of the second half of a layer: what the attention gave."""

    def forward(self, attended: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return attended


def attention(*, edges: bool, scale: float) -> GTLayer:
    torch.manual_seed(1)
    layer = GTLayer(WIDTH, HEADS, edge_states=edges, last=False, norm="batch", dropout=0.0).double()
    layer.node_block = Only()
    layer.edge_block = Only() if edges else None
    for linear in (layer.Q, layer.K):
        linear.weight.data *= scale
    return layer


@directed
def test_attention_matches_pyg_where_no_score_is_clamped(given: list[Graph]) -> None:
    batch, layer = batch_of(given), attention(edges=False, scale=0.5)
    theirs = TransformerConv(WIDTH, WIDTH // HEADS, HEADS, root_weight=False, bias=False).double()
    for name, ours in (("query", layer.Q), ("key", layer.K), ("value", layer.V)):
        getattr(theirs, f"lin_{name}").weight.data = ours.weight.data
    x = vectors(batch.num_nodes, WIDTH)
    torch.testing.assert_close(layer(batch, x, None)[0], theirs(x, batch.edge_index))


@directed
@pytest.mark.parametrize("edges", [True, False])
def test_attention_equals_its_equation(given: list[Graph], edges: bool) -> None:
    batch, layer = batch_of(given), attention(edges=edges, scale=4.0)  # some scores are clamped
    x, e = vectors(batch.num_nodes, WIDTH), vectors(batch.num_edges, WIDTH, seed=1) if edges else None
    new_x, new_e = layer(batch, x, e)
    query, key, value = layer.Q(x), layer.K(x), layer.V(x)
    ones = torch.ones(batch.num_edges, WIDTH, dtype=torch.float64)
    factor = layer.E(e) if edges else ones
    for node in range(batch.num_nodes):
        pairs = [(u, query[node] * key[u] * factor[at], 1.0) for at, u in edges_into(batch, node)]
        torch.testing.assert_close(new_x[node], attend(pairs, value, HEADS, 1e-6 if edges else 0.0))
        for at, u in edges_into(batch, node) if edges else []:
            torch.testing.assert_close(new_e[at], query[node] * key[u] * factor[at] / (WIDTH / HEADS) ** 0.5)


def test_complete_graph_has_all_other_nodes_of_a_graph() -> None:
    batch = batch_of([*DEGENERATE, *random_graphs(4, seed=3)])
    full = complete_without_loops(batch)
    for node in range(batch.num_nodes):
        assert [u for _, u in edges_into(full, node)] == others_of(batch, node)
        assert full.in_ptr[node + 1] - full.in_ptr[node] == full.in_degree[node] == len(others_of(batch, node))
        out = full.out_order[full.out_ptr[node] : full.out_ptr[node + 1]]
        assert full.edge_index[0, out].tolist() == [node] * len(out)
        assert full.edge_index[1, out].tolist() == others_of(batch, node)


def test_wl_roles_are_ranks_of_degree_digests() -> None:
    batch = batch_of([*DEGENERATE, *random_graphs(4, seed=3)])
    digest = [hashlib.md5("_".join(["1"] * (1 + d)).encode()).hexdigest() for d in batch.in_degree.tolist()]
    for node, role in enumerate(degree_roles(batch).tolist()):
        mates = {digest[node], *(digest[u] for u in others_of(batch, node))}
        assert role == 1 + sorted(mates).index(digest[node])


def test_all_pairs_of_a_full_graph_have_edge_type_0() -> None:
    torch.manual_seed(0)
    shapes = Shapes(outputs=2, level="node", node_types=28, edge_types=4)
    model = build_model("gt", shapes, {"width": 16, "layers": 2, "full_graph": True, "edge_features": True}).eval()
    batch = batch_of(random_graphs(3, seed=1))
    other = batch.with_column("edge_attr", (batch.edge_attr + 1) % 4)
    before = model(batch)
    assert torch.equal(before, model(other))
    model.edge_encoder.feature.weight.data[1:] += 1
    assert torch.equal(before, model(batch))
    model.edge_encoder.feature.weight.data[0] += 1
    assert not torch.equal(before, model(batch))
