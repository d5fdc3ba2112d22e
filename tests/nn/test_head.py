"""Prediction heads."""

from __future__ import annotations

import pytest
import torch

from graphtrial.nn import head
from graphtrial.nn.head import PairMLP, halving_mlp


def test_pairs_are_evaluated_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    mlp, x, pairs = PairMLP(halving_mlp(16, 1)), torch.randn(9, 8), torch.randint(9, (50, 2))
    whole = mlp.score_pairs(x, pairs)
    monkeypatch.setattr(head, "CHUNK", 7)
    sizes: list[int] = []
    mlp.rest.register_forward_pre_hook(lambda _, inputs: sizes.append(len(inputs[0])))
    with torch.no_grad():
        torch.testing.assert_close(mlp.score_pairs(x, pairs), whole.detach())
        assert mlp.score_pairs(x, pairs[:0]).shape == (0, 1)
    assert sizes == [7] * 7 + [1, 0]
    assert mlp.score_pairs(x, pairs).requires_grad
    assert sizes[-1] == 50  # a step takes all of them at once
