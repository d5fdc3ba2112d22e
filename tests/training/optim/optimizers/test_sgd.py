"""SGD against torch's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.training.optim.twins import assert_equal_bits, resumed, stack, steps

from graphtrial.core.errors import GraphTrialError
from graphtrial.training.optim.optimizers.sgd import SGD

OPTIONS: list[dict[str, Any]] = [
    {},
    {"weight_decay": 1e-2},
    {"momentum": 0.9},
    {"momentum": 0.9, "dampening": 0.3, "weight_decay": 1e-3},
    {"momentum": 0.9, "nesterov": True},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_every_step_matches_torch_bit_exact(options: dict[str, Any]) -> None:
    ours, theirs = stack(), stack()
    every_layer = [step for step in range(1, 12) if step % 3]  # torch's fused kernel needs all gradients at once
    steps(ours, SGD(lr=0.01, **options).build(ours.parameters()), every_layer)
    steps(theirs, torch.optim.SGD(theirs.parameters(), lr=0.01, fused=True, **options), every_layer)
    assert_equal_bits(ours, theirs)


@pytest.mark.parametrize("options", OPTIONS)
def test_parameters_may_receive_gradients_later(options: dict[str, Any]) -> None:
    ours, theirs = stack(), stack()
    steps(ours, SGD(lr=0.01, **options).build(ours.parameters()), range(12))
    steps(theirs, torch.optim.SGD(theirs.parameters(), lr=0.01, foreach=False, **options), range(12))
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("options", OPTIONS)
def test_resume_is_bit_exact(options: dict[str, Any]) -> None:
    assert_equal_bits(*resumed(SGD(lr=0.01, **options)))


def test_nesterov_needs_momentum() -> None:
    with pytest.raises(GraphTrialError, match="needs a momentum above 0"):
        SGD(lr=0.1, nesterov=True)
