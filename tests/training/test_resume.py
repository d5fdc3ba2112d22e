"""A training that was stopped resumes to the same bits, with every registered component."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphtrial.training.batches import Job
from graphtrial.training.optim import OPTIMIZERS, SCHEDULES, STOPPING
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.training.trainer import train

ARGUMENTS: dict[str, str] = {
    "adam": "adam:lr=0.01,weight_decay=0.001,amsgrad=true",
    "adamw": "adamw:lr=0.01",
    "sgd": "sgd:lr=0.05,momentum=0.9,nesterov=true",
    "step": "step:2",
    "plateau": "plateau:factor=0.5,patience=0",
    "cosine": "cosine:warmup_epochs=3",
    "polynomial": "polynomial:total_steps=40,warmup_steps=3,final_factor=0.5",
}
"""Arguments that make a component do something within eight epochs; its name alone where it needs none."""

LIMITS = {"early_stopping": 4, "max_epochs": 6, "max_hours": 1, "min_lr": 0.002}

CASES: dict[str, dict[str, Any]] = {
    **{f"optimizer-{name}": {"optimizer": ARGUMENTS.get(name, name)} for name in OPTIMIZERS},
    **{f"schedule-{name}": {"schedule": ARGUMENTS.get(name, name)} for name in SCHEDULES},
    **{f"stopping-{name}": {f"stopping.{name}": LIMITS[name], "schedule.patience": 0} for name in STOPPING},
    "clipping": {"clip_grad_norm": 0.05},
    "accumulation": {"accumulation": 2, "schedule": "one-cycle"},
    "accumulation-as-published": {"accumulation": "as-published", "batch_size": 4},
    "best": {"evaluate": "best", "monitor": "val_score"},
}


class _StopError(Exception):
    pass


def bits(outcome: Outcome) -> tuple[object, ...]:
    """Return everything of an outcome but the seconds, to the last bit."""
    history = [dataclasses.replace(epoch, seconds=0.0) for epoch in outcome.epochs]
    weights = {name: value.numpy().tobytes() for name, value in outcome.weights.items()}
    return outcome.status, outcome.params, history, outcome.scores, weights, outcome.details


@pytest.mark.parametrize("case", CASES)
def test_resume_is_bit_exact(make_job: Callable[..., Job], tmp_path: Path, case: str) -> None:
    expected = bits(train(make_job(CASES[case])))
    if case.startswith("stopping-"):
        ended = expected[-1]["stop_reason"]  # type: ignore[index]
        assert ended == case.removeprefix("stopping-") or case == "stopping-max_hours"  # the time is not known before
    else:
        assert expected != bits(train(make_job())), "the component changes nothing"

    def stop(epoch: Epoch) -> None:
        if epoch.epoch in (1, 3, 4):
            raise _StopError

    for _ in range(3):
        with pytest.raises(_StopError):
            train(make_job(CASES[case]), tmp_path / "checkpoint", stop)
    assert bits(train(make_job(CASES[case]), tmp_path / "checkpoint")) == expected
