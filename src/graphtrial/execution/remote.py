"""Remote trials: run on a machine that does not see the store, with every epoch and the result sent back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.hardware.compute import ONE_CORE, Compute
from graphtrial.core.plugins.loader import UserCode
from graphtrial.core.temporary import temporary_folder
from graphtrial.execution.recording import TrialResult
from graphtrial.execution.worker import DriverGoneError
from graphtrial.training.checkpoint import Checkpoint
from graphtrial.training.outcome import Epoch
from graphtrial.trials.environment import environment
from graphtrial.trials.store.store import CHECKPOINT
from graphtrial.trials.trial import TrialSpec, run_trial


@dataclass(frozen=True)
class RemoteJob:
    """Everything that a remote machine needs for a trial: specification, user code, and a checkpoint to resume from.

    `code` is the digest of the driver's package: another one could give other numbers under the same id. The device of
    `compute` is looked for on the remote machine.
    """

    trial: dict[str, Any]
    user_code: UserCode
    code: str
    state: bytes | None = None
    compute: Compute = ONE_CORE


@dataclass(frozen=True)
class RemoteUpdate:
    """A message about a running trial: first its environment, then each epoch and the checkpoint after it."""

    trial: str
    environment: dict[str, Any] | None = None
    epoch: Epoch | None = None
    state: bytes | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the message as plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> RemoteUpdate:
        """Return the message of these values."""
        epoch = values["epoch"]
        return cls(**{**values, "epoch": None if epoch is None else Epoch(**epoch)})


def run_remote(job: RemoteJob, send: Callable[[RemoteUpdate], None], *, checkpoint_seconds: float = 0.0) -> TrialResult:
    """Run a trial on this machine, in a folder that is deleted afterwards, and send an update after each epoch.

    The checkpoint is sent with it at an interval of at least `checkpoint_seconds`. `send` raises `DriverGoneError` if
    the driver has ended, which ends the trial; an error of the trial itself is its result.
    """
    with temporary_folder() as folder:
        each_epoch = 1.0 if checkpoint_seconds == 0 else None  # sending a checkpoint costs more than saving it
        return _run(job, Checkpoint(Path(folder) / CHECKPOINT, each_epoch), send, checkpoint_seconds)


def run_in_folder(job: RemoteJob, folder: Path) -> TrialResult:
    """Run a trial with its checkpoint in a folder that outlives this process, such as one on shared storage."""
    return _run(job, Checkpoint(folder / CHECKPOINT), lambda update: None, float("inf"))


def _run(
    job: RemoteJob, checkpoint: Checkpoint, send: Callable[[RemoteUpdate], None], checkpoint_seconds: float
) -> TrialResult:
    sent = -float("inf")

    def send_epoch(epoch: Epoch) -> None:
        nonlocal sent
        due = time.monotonic() - sent >= checkpoint_seconds or epoch.epoch == job.compute.pause_at
        send(RemoteUpdate(spec.id, epoch=epoch, state=checkpoint.path.read_bytes() if due else None))
        sent = time.monotonic() if due else sent

    try:
        _check_code(job)
        job.user_code.load()
        spec = TrialSpec.from_dict(job.trial)
        compute = job.compute.placed()
        if job.state is not None and checkpoint.load() is None:
            checkpoint.put(job.state)
        send(RemoteUpdate(spec.id, environment=environment(compute)))
        return TrialResult.of(run_trial(spec, checkpoint, send_epoch, compute))
    except (DriverGoneError, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 - an error of a model fails its trial, not the study
        return TrialResult.failed(error)


def _check_code(job: RemoteJob) -> None:
    here = environment()["code"]
    if here != job.code:
        raise GraphTrialError(
            f"the code of graphtrial differs between this machine ({here}) and the driver ({job.code}); "
            "install the same version everywhere"
        )
