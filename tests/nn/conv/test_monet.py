"""MoNet against PyG's Gaussian mixtures, and the place of its bias."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.layers import WIDTH, build_layer, directed, output
from tests.helpers.samples import DEGENERATE, Graph, batch_of, vectors
from torch import nn
from torch_geometric.nn import GMMConv

from graphtrial.nn.block import Block, BlockConfig
from graphtrial.nn.conv.monet import MoNet


@directed
@pytest.mark.parametrize("kernels", [1, 3])
def test_monet_matches_pyg(given: list[Graph], kernels: int) -> None:
    batch, layer = batch_of(given), build_layer(MoNet, kernels=kernels)
    theirs = GMMConv(WIDTH, WIDTH, dim=2, kernel_size=kernels, aggr="add", bias=False).double()
    no_root = torch.zeros(WIDTH, WIDTH)
    sigma = 1 / layer.inverse_width
    theirs.load_state_dict({"g": layer.linear.weight.T, "mu": layer.mean, "sigma": sigma, "root.weight": no_root})
    received = torch.bincount(batch.edge_index[1], minlength=batch.num_nodes).double() + 1
    ends = torch.stack([received[batch.edge_index[0]], received[batch.edge_index[1]]], dim=1) ** -0.5
    position = torch.tanh(ends @ layer.pseudo.weight.T + layer.pseudo.bias)
    x = vectors(batch.num_nodes, WIDTH)
    torch.testing.assert_close(output(layer, batch, x), theirs(x, batch.edge_index, position))


def test_monet_bias_follows_the_skip_connection() -> None:
    batch, layer = batch_of(DEGENERATE), build_layer(MoNet)
    block = Block(layer, WIDTH, BlockConfig(batch_norm=True, residual=True, dropout=0.0)).double().eval()
    x = vectors(batch.num_nodes, WIDTH)
    normalized = nn.BatchNorm1d.forward(block.node_norm, output(layer, batch, x))
    expected = x + normalized.relu() + layer.bias
    torch.testing.assert_close(block(batch, x, None)[0], expected)


def test_monet_initialization_matches_the_reference() -> None:
    torch.manual_seed(0)
    layer = MoNet(256, kernels=200)
    assert layer.mean.std().item() == pytest.approx(0.1, rel=0.1)
    assert layer.mean.mean().item() == pytest.approx(0, abs=0.02)
    assert layer.inverse_width.eq(1).all()
    assert not layer.bias.any()
    gain, fans = 2**0.5, 256 + 200 * 256
    assert layer.linear.weight.std().item() == pytest.approx(gain * (2 / fans) ** 0.5, rel=0.02)
