"""AdamW against torch's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.training.optim.twins import assert_close, assert_equal_bits, resumed, stack, steps

from graphtrial.training.optim.optimizers.adamw import AdamW

OPTIONS: list[dict[str, Any]] = [{}, {"weight_decay": 0.1, "betas": (0.8, 0.95)}, {"amsgrad": True}]


@pytest.mark.parametrize("options", OPTIONS)
def test_every_step_matches_torch_to_rounding(options: dict[str, Any]) -> None:
    ours, theirs = stack(), stack()
    steps(ours, AdamW(lr=0.01, **options).build(ours.parameters()), range(12))
    steps(theirs, torch.optim.AdamW(theirs.parameters(), lr=0.01, fused=True, **options), range(12))
    assert_close(ours, theirs)


@pytest.mark.parametrize("options", OPTIONS)
def test_resume_is_bit_exact(options: dict[str, Any]) -> None:
    assert_equal_bits(*resumed(AdamW(lr=0.01, **options)))
