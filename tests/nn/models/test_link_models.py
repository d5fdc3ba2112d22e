"""The models of link prediction against PyG and against attention written out pair by pair."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from tests.helpers.samples import ENCODING, NODE_TYPES, batch_of, random_graphs
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric import nn as pyg

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn import Shapes, build_model

GIVEN = [
    (nodes, [*dict.fromkeys(edges)]) for nodes, edges in random_graphs(4, 3, undirected=True, max_nodes=20) if nodes > 9
][:1]
PAIRS = torch.tensor([[0, 3], [3, 0], [2, 2], [8, 1]])


def shapes(batch: GraphBatch) -> Shapes:
    return Shapes(outputs=1, level="pair", node_types=NODE_TYPES, encoding_dim=ENCODING, num_nodes=batch.num_nodes)


def built(name: str, **settings: Any) -> tuple[GraphBatch, nn.Module]:
    batch = batch_of(GIVEN).with_column("pairs", PAIRS)
    torch.manual_seed(0)
    return batch, build_model(name, shapes(batch), {"width": 8, **settings}).double().eval()


def features(batch: GraphBatch) -> Tensor:
    return torch.cat([F.one_hot(batch.x.flatten(), NODE_TYPES), batch.columns["encoding"]], dim=1).double()


def convolved(layer: nn.Module, x: Tensor, batch: GraphBatch) -> Tensor:
    outputs, inputs = layer.weight.shape
    theirs = pyg.GCNConv(inputs, outputs).double()
    theirs.lin.weight, theirs.bias = layer.weight, layer.bias
    return theirs(x, batch.edge_index)


def test_vgae_matches_pyg() -> None:
    batch, model = built("vgae", latent=4)
    hidden = convolved(model.hidden, features(batch), batch).relu()
    z = convolved(model.mean, hidden, batch)
    expected = pyg.InnerProductDecoder()(z, PAIRS.T, sigmoid=False)
    torch.testing.assert_close(model(batch), expected.unsqueeze(1))


def test_vgae_samples_in_training_with_optional_kl_loss() -> None:
    batch, model = built("vgae", latent=4, kl=0.5)
    model.train()
    torch.manual_seed(1)
    first = model(batch)
    assert not torch.allclose(first, model(batch))
    hidden = convolved(model.hidden, features(batch), batch).relu()
    mean, log_std = (convolved(layer, hidden, batch) for layer in (model.mean, model.log_std))
    theirs = pyg.VGAE(nn.Identity()).kl_loss(mean, log_std)
    assert float(model.extra_loss()) == pytest.approx(0.5 * float(theirs))
    _, without = built("vgae", latent=4)
    without.train()(batch)
    assert without.extra_loss() == 0


def attended(query: Tensor, keys: Tensor, values: Tensor, heads: int) -> Tensor:
    """Multi-head attention of one query [width] over keys and values [n, width]."""
    out = []
    for q, k, v in zip(query.chunk(heads), keys.chunk(heads, dim=1), values.chunk(heads, dim=1), strict=True):
        out.append(((k @ q) / math.sqrt(len(q))).softmax(dim=0) @ v)
    return torch.cat(out)


def test_graphstar_equals_attention_written_out_node_by_node() -> None:
    batch, model = built("graphstar", layers=2, heads=4)
    source, target = batch.edge_index

    def star_of(layer: nn.Module, star: Tensor, x: Tensor, *, residual: bool, heads: int) -> Tensor:
        seen = torch.cat([x, star]) if residual else x
        received = F.elu(attended(layer.query(star)[0], layer.key(seen), layer.value(seen), heads))[None]
        return layer.norm(received + star if residual else received)

    x = F.relu(model.first(features(batch)))
    star = star_of(model.star, x.mean(dim=0, keepdim=True), x, residual=False, heads=1)
    for i, layer in enumerate(model.nodes):
        rows = []
        for node in range(batch.num_nodes):
            near = layer.of_neighbours(x[source[target == node]])
            seen = torch.cat([near, layer.of_itself(x[node : node + 1]), layer.of_star(star)])
            rows.append(x[node] + F.elu(attended(layer.query(x[node]), seen, seen, 4)))
        x = layer.norm(torch.stack(rows))
        if i == 0:
            star = star_of(model.stars[0], star, x, residual=True, heads=4)
    expected = (x[PAIRS[:, 0]] * model.relation * x[PAIRS[:, 1]]).sum(dim=1, keepdim=True)
    torch.testing.assert_close(model(batch), expected)
    model(batch).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("name", ["vgae", "graphstar", "mlp-direct"])
def test_link_models_require_pairs(name: str) -> None:
    batch, model = built(name)
    with pytest.raises(GraphTrialError, match="'pairs'"):
        model(batch.with_columns({"x": batch.x, "encoding": batch.columns["encoding"]}))
