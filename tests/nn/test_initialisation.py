"""Initialization, as in the papers' code."""

from __future__ import annotations

import math

import pytest
import torch
from tests.helpers.layers import accepted_settings, suited
from torch import Tensor, nn

from graphtrial.nn import MODELS, Shapes, build_model
from graphtrial.nn.conv.gcn import GCN
from graphtrial.nn.conv.gin import GIN

SHAPES = Shapes(outputs=1, level="graph", node_types=28, edge_types=4, encoding_dim=8)
WIDTH = 256


def assert_uniform(weight: Tensor, bound: float) -> None:
    """Enough numbers to tell a uniform distribution on [-bound, bound] from its neighbours."""
    weight = weight.detach()
    assert float(weight.abs().max()) <= bound
    assert float(weight.abs().max()) > 0.99 * bound
    assert float(weight.mean()) == pytest.approx(0, abs=0.02 * bound)
    assert float(weight.var()) == pytest.approx(bound**2 / 3, rel=0.05)


def test_gcn_initialization_is_xavier_uniform_with_zero_bias() -> None:
    torch.manual_seed(0)
    linear = GCN(WIDTH).linear
    assert_uniform(linear.weight, math.sqrt(6 / (2 * WIDTH)))
    assert not linear.bias.any()


def test_gin_epsilon_is_learnable_and_starts_at_zero() -> None:
    epsilon = GIN(WIDTH).epsilon
    assert epsilon.item() == 0.0
    assert epsilon.requires_grad
    assert epsilon.numel() == 1


@pytest.mark.parametrize("name", ["mlp", "gcn-vanilla", "gin", "gatedgcn"])
def test_other_linear_layers_have_torch_initialization(name: str) -> None:
    torch.manual_seed(0)
    model = build_model(name, SHAPES, {"width": WIDTH, "layers": 2})
    maps = [module for module in model.modules() if isinstance(module, nn.Linear) and module.in_features == WIDTH]
    assert len(maps) >= 3
    for linear in maps:
        if linear.weight.numel() >= 10_000:
            assert_uniform(linear.weight, 1 / math.sqrt(WIDTH))
        assert 0 < linear.bias.abs().max().item() <= 1 / math.sqrt(WIDTH)


@pytest.mark.parametrize("name", MODELS.names())
def test_embeddings_are_normal_and_norms_identity_at_initialization(name: str) -> None:
    torch.manual_seed(0)
    model = build_model(name, suited(name, SHAPES), accepted_settings(name, width=WIDTH, layers=2))
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            assert module.weight.mean().item() == pytest.approx(0, abs=0.1)
            small = name.startswith("graphormer") and module.weight.std() < 0.1  # degrees and distances; all in 1.0
            std = 0.02 if small else 1
            assert module.weight.std().item() == pytest.approx(std, rel=0.1)
        if isinstance(module, nn.BatchNorm1d) and module.affine:
            assert (module.eps, module.momentum) == (1e-5, 0.1)
            assert module.weight.eq(1).all()
            assert not module.bias.any()
