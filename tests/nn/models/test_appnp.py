"""APPNP against PyG, and its size on Wiki-CS."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.helpers.layers import UNDIRECTED
from tests.helpers.samples import ENCODING, NODE_TYPES, Graph, batch_of
from torch import nn
from torch.nn import functional as F
from torch_geometric import nn as pyg

from graphtrial.core.errors import GraphTrialError
from graphtrial.nn import Shapes, build_model, count_parameters

NODES = Shapes(outputs=3, level="node", node_types=NODE_TYPES, encoding_dim=ENCODING)
WIKICS = Shapes(outputs=10, level="node", node_dim=300)


def built(shapes: Shapes = NODES, **settings: Any) -> nn.Module:
    torch.manual_seed(0)
    return build_model("appnp", shapes, {"width": 8, **settings}).double().eval()


@pytest.mark.parametrize("given", UNDIRECTED.values(), ids=UNDIRECTED)
@pytest.mark.parametrize("self_loops", [True, False])
def test_appnp_matches_pyg(given: list[Graph], self_loops: bool) -> None:
    # PyG makes one of several loops at a node, and only if it adds loops.
    given = [(nodes, [*dict.fromkeys(edges)]) for nodes, edges in given]
    batch, model = batch_of(given), built(steps=4, alpha=0.2, self_loops=self_loops)
    x = torch.cat([F.one_hot(batch.x.flatten(), NODE_TYPES), batch.columns["encoding"]], dim=1).double()
    first, second = model.maps
    theirs = pyg.APPNP(K=4, alpha=0.2, add_self_loops=self_loops)
    expected = theirs(second(first(x).relu()), batch.edge_index)
    torch.testing.assert_close(model(batch), expected)


def test_graph_logits_are_the_mean_over_nodes() -> None:
    batch = batch_of(UNDIRECTED["random-0"])
    of_nodes = built()
    of_graphs = built(Shapes(outputs=3, level="graph", node_types=NODE_TYPES, encoding_dim=ENCODING))
    expected = pyg.global_mean_pool(of_nodes(batch), batch.batch, batch.num_graphs)
    torch.testing.assert_close(of_graphs(batch), expected)


def test_edge_dropout_keeps_the_expected_output() -> None:
    batch, model = batch_of(UNDIRECTED["random-1"]), built(steps=1, edge_dropout=0.4)
    expected = model(batch)
    model.train()
    torch.manual_seed(0)
    drawn = torch.stack([model(batch) for _ in range(500)])
    assert drawn.std(dim=0).max() > 0.01
    torch.testing.assert_close(drawn.mean(dim=0), expected, rtol=0.0, atol=0.05)


def test_dropout_acts_on_the_features_too() -> None:
    batch, model = batch_of(UNDIRECTED["random-1"]), built(dropout=0.9)
    still = model(batch)
    assert torch.equal(model(batch), still)
    assert not torch.equal(model.train()(batch), still)


@pytest.mark.parametrize(("layers", "expected"), [(1, 19914), (2, 19914 + 64 * 65)])
def test_appnp_has_the_size_of_the_stored_weights_of_wiki_cs(layers: int, expected: int) -> None:
    assert count_parameters(build_model("appnp", WIKICS, {"width": 64, "layers": layers})) == expected


@pytest.mark.parametrize(("settings", "words"), [({"alpha": 0.0}, "alpha"), ({"edge_dropout": 1.0}, "edge_dropout")])
def test_invalid_alpha_raises(settings: dict[str, float], words: str) -> None:
    with pytest.raises(GraphTrialError, match=f"{words} of model 'appnp' must be"):
        built(**settings)


def test_appnp_refuses_link_tasks() -> None:
    with pytest.raises(GraphTrialError, match="appnp predicts a target for each graph or node, not for each pair"):
        built(Shapes(outputs=1, level="pair", node_dim=3))
