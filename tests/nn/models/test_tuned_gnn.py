"""The convolutions of tunedGNN against PyG's layers with the same weights."""

from __future__ import annotations

import torch
from tests.helpers.layers import undirected
from tests.helpers.samples import Graph, batch_of, random_graphs, vectors
from torch_geometric.nn import GATConv, GCNConv, SAGEConv

from graphtrial.graphs.self_loops import add_remaining_self_loops
from graphtrial.nn import Shapes, build_model, count_parameters
from graphtrial.nn.models.gcn_direct import Propagation
from graphtrial.nn.models.tuned_gnn import MeanSage, SingleHeadGAT


@undirected
def test_convolutions_match_pyg(given: list[Graph]) -> None:
    batch = add_remaining_self_loops(batch_of(given))
    torch.manual_seed(0)
    x = vectors(batch.num_nodes, 6)
    sage, gat, gcn = (kind(6, 4).double() for kind in (MeanSage, SingleHeadGAT, Propagation))
    pairs = [
        (sage, SAGEConv(6, 4), {"lin_l": sage.neighbours, "lin_r": sage.own}),
        (gat, GATConv(6, 4, heads=1, add_self_loops=False, bias=False), {"lin": gat.linear}),
        (gcn, GCNConv(6, 4, add_self_loops=False), {"lin": gcn}),
    ]
    for ours, theirs, linears in pairs:
        state = {f"{name}.weight": linear.weight for name, linear in linears.items()}
        if ours is sage:
            state["lin_l.bias"] = sage.neighbours.bias
        if ours is gcn:
            state["bias"] = gcn.bias
        if ours is gat:
            state |= {"att_src": gat.source[None], "att_dst": gat.target[None]}
        theirs.double().load_state_dict(state)
        torch.testing.assert_close(ours(batch, x), theirs(x, batch.edge_index))


def test_unused_modules_are_counted_but_not_applied() -> None:
    shapes = Shapes(outputs=10, level="node", node_dim=300)
    used, released = (
        build_model("tuned-gnn", shapes, {"width": 256, "layers": 3, "idle_parameters": idle}).eval()
        for idle in (False, True)
    )
    assert (count_parameters(used), count_parameters(released)) == (212_746, 499_978)
    batch = batch_of(random_graphs(3, seed=0))
    batch = batch.with_column("x", torch.randn(batch.num_nodes, 300))
    released.load_state_dict(used.state_dict(), strict=False)
    assert torch.equal(used(batch), released(batch))
