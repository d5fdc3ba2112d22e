"""Linear layer of sparse features against the dense one."""

from __future__ import annotations

import importlib

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from graphtrial.ops import dropout, feature_linear, sparse_features
from graphtrial.ops.feature_linear import MIN_WIDTH

pytestmark = pytest.mark.kernels


def bag_of_words(density: float, width: int = MIN_WIDTH + 30, nodes: int = 60) -> Tensor:
    """Return features of that density, with an empty row and an empty column."""
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(nodes, width, dtype=torch.float64, generator=generator)
    x *= torch.rand(nodes, width, generator=generator) < density
    x[3], x[:, 5] = 0, 0
    return x


def maps(x: Tensor) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(2)
    weight, bias = (torch.randn(*shape, dtype=x.dtype, generator=generator) for shape in ((20, x.shape[1]), (20,)))
    return weight.requires_grad_(), bias.requires_grad_()


@pytest.mark.parametrize(("density", "width"), [(0.05, MIN_WIDTH + 30), (0.5, MIN_WIDTH + 30), (0.05, 40)])
def test_product_and_gradient_match_the_dense_layer(density: float, width: int) -> None:
    x = bag_of_words(density, width)
    weight, bias = maps(x)
    assert (sparse_features(x) is not None) == (density < 0.1 and width > MIN_WIDTH)
    expected, out = F.linear(x, weight, bias), feature_linear(x, weight, bias)
    torch.testing.assert_close(out, expected)
    torch.testing.assert_close(feature_linear(x, weight), expected - bias)
    ours, theirs = (torch.autograd.grad(result.square().sum(), (weight, bias)) for result in (out, expected))
    torch.testing.assert_close(ours, theirs)


def test_dropout_mask_covers_nonzero_values_alone() -> None:
    x = bag_of_words(0.05)
    weight, _ = maps(x)
    torch.manual_seed(5)
    out = feature_linear(x, weight, None, 0.5)
    dropped = x.clone()
    torch.manual_seed(5)
    dropped[x != 0] = dropout(x[x != 0], 0.5)
    assert 0 < int((dropped != 0).sum()) < int((x != 0).sum())
    torch.testing.assert_close(out, F.linear(dropped, weight))


def test_sparse_form_is_cached_until_the_tensor_changes() -> None:
    x = bag_of_words(0.05)
    weight, _ = maps(x)
    assert sparse_features(x) is sparse_features(x)
    x[0] += 1
    torch.testing.assert_close(feature_linear(x, weight), F.linear(x, weight))
    x += 1
    assert sparse_features(x) is None


def test_cache_entry_is_released_with_the_tensor() -> None:
    cache = importlib.import_module("graphtrial.ops.feature_linear")._cache

    x = bag_of_words(0.05)
    before = len(cache)
    sparse_features(x)
    assert len(cache) == before + 1
    del x
    assert len(cache) == before
