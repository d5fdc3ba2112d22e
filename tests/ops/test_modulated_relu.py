"""ReLU of a modulated signed square root: special values, and a gradient that is finite at 0."""

from __future__ import annotations

import math

import pytest
import torch
from tests.helpers.samples import vectors
from torch import Tensor

from graphtrial.ops.modulated_relu import SignedSqrt, modulated_relu
from graphtrial.ops.portable import portable_path


def test_signed_sqrt_has_a_finite_gradient_at_zero() -> None:
    x = torch.tensor([0.0, 4.0, -9.0], requires_grad=True)
    root = SignedSqrt.apply(x)
    (grad,) = torch.autograd.grad(root.sum(), x)
    assert torch.autograd.gradcheck(SignedSqrt.apply, vectors(5, 2).requires_grad_())
    assert root.tolist() == [0.0, 2.0, -3.0]
    torch.testing.assert_close(grad, torch.tensor([0.0, 1 / 4, 1 / 6]))


def expected(x: float, w: float, b: float) -> tuple[float, float, float, float]:
    """Return value and gradients, written out."""
    s = x * w
    value = math.copysign(math.sqrt(abs(s)), s) + b
    if not value > 0:
        return 0.0, 0.0, 0.0, 0.0
    slope = 0.5 / math.sqrt(abs(s)) if s else 0.0
    return value, slope * w, slope * x, 1.0


@pytest.mark.parametrize("portable", [False, True], ids=["kernel", "portable"])
def test_values_and_gradients_equal_the_formula(portable: bool) -> None:
    numbers = [-4.0, -0.25, -0.0, 0.0, 1e-12, 0.5, 9.0]
    rows = [(x, w, b) for x in numbers for w in numbers for b in (-1.0, 0.0, 2.0)]
    columns = [torch.tensor(column, dtype=torch.float64).reshape(-1, 7) for column in zip(*rows, strict=True)]
    x, modulation = columns[0].requires_grad_(), torch.cat(columns[1:], dim=1).requires_grad_()
    with portable_path(portable):
        out = modulated_relu(x, modulation)
        grads = torch.autograd.grad(out.sum(), (x, modulation))
    actual: list[Tensor] = [out, grads[0], *grads[1].chunk(2, dim=1)]
    wanted = torch.tensor([expected(*row) for row in rows], dtype=torch.float64)
    torch.testing.assert_close(torch.stack([value.flatten() for value in actual], dim=1), wanted)


@pytest.mark.parametrize("portable", [False, True], ids=["kernel", "portable"])
def test_nan_is_kept(portable: bool) -> None:
    x, modulation = torch.ones(1, 3), torch.ones(1, 6)
    x[0, 0] = modulation[0, 1] = modulation[0, 5] = torch.nan
    with portable_path(portable):
        assert modulated_relu(x, modulation).isnan().all()
