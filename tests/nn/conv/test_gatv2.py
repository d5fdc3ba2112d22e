"""GATv2 against PyG's layer with the same weights."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.layers import WIDTH, build_layer, directed
from tests.helpers.samples import Graph, batch_of, vectors
from torch_geometric.nn import GATv2Conv

from graphtrial.nn import Shapes, build_model, count_parameters
from graphtrial.nn.conv.gatv2 import GATv2


@directed
@pytest.mark.parametrize("share_weights", [False, True])
@pytest.mark.parametrize("edges", [False, True])
def test_gatv2_matches_pyg(given: list[Graph], share_weights: bool, edges: bool) -> None:
    batch, layer = batch_of(given), build_layer(GATv2, heads=4, share_weights=share_weights, edge_features=edges)
    width = {"edge_dim": WIDTH} if edges else {}
    theirs = GATv2Conv(WIDTH, WIDTH // 4, heads=4, add_self_loops=False, share_weights=share_weights, **width).double()
    weights = {"att": layer.attention, "bias": layer.bias}
    for name, ours in (("lin_l", layer.left), ("lin_r", layer.right)):
        weights |= {f"{name}.weight": ours.weight, f"{name}.bias": ours.bias}
    if layer.edge is not None:
        weights["lin_edge.weight"] = layer.edge.weight
    theirs.load_state_dict(weights)
    x, e = vectors(batch.num_nodes, WIDTH), vectors(batch.num_edges, WIDTH, seed=1)
    expected = theirs(x, batch.edge_index, e if edges else None)
    torch.testing.assert_close(layer(batch, x, e if edges else None)[0], expected)
    assert count_parameters(layer) == count_parameters(theirs)


def test_edges_are_embedded_only_where_they_are_read() -> None:
    shapes = Shapes(outputs=1, level="graph", node_types=28, edge_types=4)
    without, with_edges = (
        count_parameters(build_model("gatv2", shapes, {"width": 64, "layers": 4, "edge_features": edges}))
        for edges in (False, True)
    )
    assert with_edges - without == 4 * 64 + 4 * 64 * 64  # the embedding, and W_e of every layer
