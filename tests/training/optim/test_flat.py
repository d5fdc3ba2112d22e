"""Parameters in one buffer."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from graphtrial.training.optim.fused import FusedAdam

SIZES = (1, 7, 33, 110, 660)


def parameters(seed: int = 0) -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(seed)
    return [nn.Parameter(torch.randn(size, generator=generator)) for size in SIZES]


def give_gradients(given: list[nn.Parameter], step: int, skip: tuple[int, ...] = ()) -> None:
    generator = torch.Generator().manual_seed(100 + step)
    for at, parameter in enumerate(given):
        gradient = torch.randn(parameter.shape, generator=generator)
        parameter.grad = None if at in skip else gradient


@pytest.mark.parametrize("options", [{}, {"weight_decay": 0.1}, {"amsgrad": True}])
def test_adam_is_torchs_up_to_rounding(options: dict[str, float]) -> None:
    ours, theirs = parameters(), parameters()
    optimizers = FusedAdam(ours, lr=0.1, **options), torch.optim.Adam(theirs, lr=0.1, fused=True, **options)  # type: ignore[arg-type]
    for step in range(5):
        for given, optimizer in zip((ours, theirs), optimizers, strict=True):
            give_gradients(given, step)
            optimizer.step()
    for mine, their in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, their, rtol=1e-6, atol=1e-6)


def test_one_by_one_and_all_at_once_have_the_same_bits() -> None:
    joint, apart = parameters(), parameters()
    optimizer = FusedAdam(joint, lr=0.1)
    alone = [FusedAdam([parameter], lr=0.1) for parameter in apart]
    for step in range(4):
        give_gradients(joint, step)
        give_gradients(apart, step)
        optimizer.step()
        for each in alone:
            each.step()
    assert all(torch.equal(a, b) for a, b in zip(joint, apart, strict=True))


def test_a_parameter_without_gradient_stays_as_it_is() -> None:
    given, reference = parameters(), parameters()
    optimizer, plain = FusedAdam(given, lr=0.1), torch.optim.Adam(reference, lr=0.1, fused=True)
    skipped = ((2,), (), (0, 4), ())  # the third has its first gradient at the second step
    for step, skip in enumerate(skipped):
        for each, which in ((given, optimizer), (reference, plain)):
            give_gradients(each, step, skip)
            which.step()
    for mine, their in zip(given, reference, strict=True):
        torch.testing.assert_close(mine, their, rtol=1e-6, atol=1e-6)


def test_a_loaded_state_goes_on_with_the_same_bits() -> None:
    given, resumed = parameters(), parameters(seed=1)
    optimizer = FusedAdam(given, lr=0.1)
    for step in range(2):
        give_gradients(given, step)
        optimizer.step()
    state = optimizer.state_dict()
    other = FusedAdam(resumed, lr=0.1)
    give_gradients(resumed, 9)
    other.step()
    with torch.no_grad():
        for parameter, source in zip(resumed, given, strict=True):
            parameter.copy_(source)
    other.load_state_dict(state)
    for step in range(2, 4):
        for each, which in ((given, optimizer), (resumed, other)):
            give_gradients(each, step)
            which.step()
    assert all(torch.equal(a, b) for a, b in zip(given, resumed, strict=True))


def test_parameters_with_other_memory_are_still_updated() -> None:
    given, reference = parameters(), parameters()
    optimizer, plain = FusedAdam(given, lr=0.1), FusedAdam(reference, lr=0.1)
    for step in range(3):
        for parameter in given:
            parameter.data = parameter.data.clone()
        for each, which in ((given, optimizer), (reference, plain)):
            give_gradients(each, step)
            which.step()
    assert all(torch.equal(a, b) for a, b in zip(given, reference, strict=True))
