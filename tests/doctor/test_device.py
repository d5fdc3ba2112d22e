"""`graphtrial doctor --device`: operators against the CPU, on the portable path and on a fake GPU."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.pretend import pretended

import graphtrial.ops
from graphtrial.core.hardware import compute
from graphtrial.core.hardware.compute import Compute
from graphtrial.doctor import device as checks
from graphtrial.doctor.device import MODELS, OPERATORS, check_device

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "STEPS", 1)


def test_portable_path_passes() -> None:
    findings = list(check_device(Compute("cpu")))
    assert [finding for finding in findings if finding.state != "ok"] == []
    assert len(findings) == 1 + len(OPERATORS) + len(MODELS)


def test_every_public_operator_is_checked() -> None:
    drawing = {"dropout", "dropout_mask"}
    helpers = {"symmetric_weight", "self_loop_scales", "sparse_features", "feature_linear"}  # weights, sparse input
    checked = {name.partition(" ")[0] for name in OPERATORS}
    assert set(graphtrial.ops.__all__) - drawing - helpers == checked


def test_device_without_mixed_tensors_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute, "_cuda_devices", lambda: ("cuda:0",))
    with pretended("cuda:0", monkeypatch):
        findings = list(check_device(Compute("cuda")))
    assert [finding for finding in findings if finding.state != "ok"] == []


def test_wrong_operator_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {"linear": (lambda graph, x, w: x @ w[:32].t() * (1 + 1e-3 * checks_portable()), ("node", "node"))}
    monkeypatch.setattr(checks, "OPERATORS", wrong)
    states = {finding.check: finding.state for finding in check_device(Compute("cpu"))}
    assert states["linear"] == "wrong"


def checks_portable() -> float:
    """1 on the portable path, else 0."""
    from graphtrial.ops.portable import uses_kernels

    return float(not uses_kernels(torch.ones(1)))
