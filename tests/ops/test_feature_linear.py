"""Products with features that are mostly 0, against those with all of them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from graphtrial.ops import dropout, feature_linear, sparse_features
from graphtrial.ops.features import WIDE


def words(share: float, width: int = WIDE + 30, nodes: int = 60) -> Tensor:
    """Return features of which that share is not 0, among them a node and a word without any."""
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(nodes, width, dtype=torch.float64, generator=generator)
    x *= torch.rand(nodes, width, generator=generator) < share
    x[3], x[:, 5] = 0, 0
    return x


def maps(x: Tensor) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(2)
    weight, bias = (torch.randn(*shape, dtype=x.dtype, generator=generator) for shape in ((20, x.shape[1]), (20,)))
    return weight.requires_grad_(), bias.requires_grad_()


@pytest.mark.parametrize(("share", "width"), [(0.05, WIDE + 30), (0.5, WIDE + 30), (0.05, 40)])
def test_the_product_and_its_gradient(share: float, width: int) -> None:
    x = words(share, width)
    weight, bias = maps(x)
    assert (sparse_features(x) is not None) == (share < 0.1 and width > WIDE)
    expected, out = F.linear(x, weight, bias), feature_linear(x, weight, bias)
    torch.testing.assert_close(out, expected)
    torch.testing.assert_close(feature_linear(x, weight), expected - bias)
    ours, theirs = (torch.autograd.grad(made.square().sum(), (weight, bias)) for made in (out, expected))
    torch.testing.assert_close(ours, theirs)


def test_what_is_dropped_is_drawn_for_what_is_not_0() -> None:
    x = words(0.05)
    weight, _ = maps(x)
    torch.manual_seed(5)
    out = feature_linear(x, weight, None, 0.5)
    kept = x.clone()
    torch.manual_seed(5)
    kept[x != 0] = dropout(x[x != 0], 0.5)
    assert 0 < int((kept != 0).sum()) < int((x != 0).sum())
    torch.testing.assert_close(out, F.linear(kept, weight))


def test_a_tensor_is_looked_at_once_and_again_when_it_was_changed() -> None:
    x = words(0.05)
    weight, _ = maps(x)
    assert sparse_features(x) is sparse_features(x)
    x[0] += 1
    torch.testing.assert_close(feature_linear(x, weight), F.linear(x, weight))
    x += 1
    assert sparse_features(x) is None


def test_what_was_seen_is_forgotten_with_the_tensor() -> None:
    from graphtrial.ops import features

    x = words(0.05)
    before = len(features._seen)
    sparse_features(x)
    assert len(features._seen) == before + 1
    del x
    assert len(features._seen) == before
