"""A trial away from home: run on a machine that does not see the store, with all that comes of it sent back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graphtrial.core import plugins
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.temporary import temporary_folder
from graphtrial.execution.worker import DriverGoneError, failure
from graphtrial.training.checkpoint import Checkpoint
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.trials.environment import environment
from graphtrial.trials.store.store import CHECKPOINT
from graphtrial.trials.trial import TrialSpec, run_trial
from graphtrial.trials.weights import packed


@dataclass(frozen=True)
class Parcel:
    """All that a machine needs for a trial: its specification, the user's code, the state to go on from, our code.

    `code` is the digest of the package at home: another one could give other numbers under the same name.
    """

    trial: dict[str, Any]
    user_code: plugins.UserCode
    code: str
    state: bytes | None = None


@dataclass(frozen=True)
class News:
    """What is heard of a trial while it runs: first where it runs, then each epoch and the state after it."""

    trial: str
    environment: dict[str, Any] | None = None
    epoch: Epoch | None = None
    state: bytes | None = None


@dataclass(frozen=True)
class Result:
    """How a trial ended: with an outcome and the bytes of the weights, or with an error in words."""

    outcome: Outcome | None
    weights: bytes | None = None
    error: str | None = None


def run_away(parcel: Parcel, tell: Callable[[News], None], *, state_seconds: float = 0.0) -> Result:
    """Run a trial on this machine, in a folder that is deleted afterwards, and tell of each epoch.

    The state after an epoch goes along unless the last one did less than `state_seconds` ago. Where nobody listens any
    more, `tell` raises `DriverGoneError`, which ends the trial; an error of the trial itself is its result.
    """
    with temporary_folder() as folder:
        return _run(parcel, Checkpoint(Path(folder) / CHECKPOINT), tell, state_seconds)


def run_in_folder(parcel: Parcel, folder: Path) -> Result:
    """Run a trial with its state in a folder that outlives this process, for example on storage that machines share."""
    return _run(parcel, Checkpoint(folder / CHECKPOINT), lambda news: None, float("inf"))


def _run(parcel: Parcel, checkpoint: Checkpoint, tell: Callable[[News], None], state_seconds: float) -> Result:
    sent = -float("inf")

    def heard(epoch: Epoch) -> None:
        nonlocal sent
        due = time.monotonic() - sent >= state_seconds
        tell(News(spec.id, epoch=epoch, state=checkpoint.path.read_bytes() if due else None))
        sent = time.monotonic() if due else sent

    try:
        _check_code(parcel)
        parcel.user_code.load()
        spec = TrialSpec.from_dict(parcel.trial)
        if parcel.state is not None and checkpoint.load() is None:
            checkpoint.put(parcel.state)
        tell(News(spec.id, environment=environment()))
        outcome = run_trial(spec, checkpoint.path, heard)
    except (DriverGoneError, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 - what a model does wrong is a fact about the trial, not the study
        return Result(None, error=failure(error))
    return Result(replace(outcome, weights={}), packed(outcome.weights))


def _check_code(parcel: Parcel) -> None:
    here = environment()["code"]
    if here != parcel.code:
        raise GraphTrialError(
            f"this machine has other code of graphtrial ({here}) than the one that asks ({parcel.code}); "
            "install the same version everywhere"
        )
