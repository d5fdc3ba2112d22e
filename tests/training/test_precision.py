"""Precision is a rule: another trial, by matrix products in fewer bits."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from tests.contracts.test_devices import model_of

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.process import compute_settings
from graphtrial.nn import MODELS
from graphtrial.training.batches import Job
from graphtrial.training.precision import autocast
from graphtrial.training.trainer import train

MakeJob = Callable[..., Job]
RULES = {"stopping.max_epochs": 2, "optimizer": "sgd:lr=0.01"}
CPU = torch.device("cpu")


def test_default_precision_is_not_stored(make_job: MakeJob) -> None:
    plain, half = make_job().rules, make_job({"precision": "bf16"}).rules
    assert make_job({"precision": 32}).rules.to_dict() == plain.to_dict()
    assert "precision" not in plain.to_dict()
    assert half.to_dict() == {**plain.to_dict(), "precision": "bf16"}
    assert half.difference(plain) == {"precision": "bf16"}
    with pytest.raises(GraphTrialError, match="precision"):
        make_job({"precision": 16})


def test_bf16_gives_similar_losses_and_float32_weights(make_job: MakeJob) -> None:
    half, full = (train(make_job({**RULES, "precision": p}, settings={"dropout": 0.0})) for p in ("bf16", 32))
    losses = [[epoch.train_loss for epoch in outcome.epochs] for outcome in (half, full)]
    assert losses[0] == pytest.approx(losses[1], rel=0.1)
    assert losses[0] != losses[1]
    assert {w.dtype for w in half.weights.values()} <= {torch.float32, torch.int64}


def test_tf32_raises_on_unsupported_devices(make_job: MakeJob) -> None:
    with pytest.raises(GraphTrialError, match="NVIDIA GPUs alone have tf32, not cpu"):
        train(make_job({"precision": "tf32"}))


@pytest.mark.parametrize("name", MODELS.names())
def test_every_model_runs_in_bf16(name: str) -> None:
    with compute_settings():
        model, batch = model_of(name)
        with torch.no_grad():
            expected = model.eval()(batch)
        with autocast("bf16", CPU):
            out = model(batch)
        out.float().square().sum().backward()
    assert torch.isfinite(out).all()
    scale = float(expected.abs().max())
    torch.testing.assert_close(out.float(), expected, rtol=0.1, atol=0.05 * max(1.0, scale))
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)
