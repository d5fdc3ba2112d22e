"""Driver of remote trials, the only writer of the store: create jobs, record updates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from graphtrial.core.files import make_folder
from graphtrial.core.hardware.compute import ONE_CORE, Compute
from graphtrial.core.plugins.loader import user_code
from graphtrial.execution.recording import record_start
from graphtrial.execution.remote import RemoteJob, RemoteUpdate
from graphtrial.training.checkpoint import Checkpoint
from graphtrial.training.outcome import Epoch
from graphtrial.trials.environment import environment
from graphtrial.trials.store import Store
from graphtrial.trials.trial import TrialSpec


def remote_job(spec: TrialSpec, store: Store, compute: Compute = ONE_CORE) -> RemoteJob:
    """Return the job that starts a trial on another machine, or resumes it from its checkpoint in the store."""
    state = checkpoint_of(spec.id, store).content()
    compute = compute if spec.kind.uses_device else replace(compute, device="cpu")
    return RemoteJob(spec.to_dict(), user_code(spec.plugins), environment()["code"], state, compute)


def checkpoint_of(trial: str, store: Store) -> Checkpoint:
    """Return the checkpoint of a trial in the store; its folder is created."""
    make_folder(store.trial_folder(trial))
    return Checkpoint(store.checkpoint_file(trial))


def record_updates(updates: Iterable[RemoteUpdate], trials: dict[str, TrialSpec], store: Store) -> None:
    """Record starts, epochs and checkpoints of these trials; late updates of others are dropped."""
    epochs: dict[str, list[Epoch]] = {}
    states: dict[str, bytes] = {}
    for update in updates:
        spec = trials.get(update.trial)
        if spec is None:
            continue
        if update.environment is not None:
            record_start(spec, store, update.environment)
        if update.epoch is not None:
            epochs.setdefault(spec.id, []).append(update.epoch)
        if update.state is not None:
            states[spec.id] = update.state
    for trial, state in states.items():  # first: a recorded epoch can always be resumed from
        checkpoint_of(trial, store).put(state)
    store.add_epochs_of(epochs)
