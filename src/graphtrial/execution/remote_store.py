"""The home of trials that run elsewhere: makes their parcels, and is the only one that writes to the store."""

from __future__ import annotations

from collections.abc import Iterable

from graphtrial.core import plugins
from graphtrial.core.files import make_folder
from graphtrial.execution.remote import News, Parcel, Result
from graphtrial.execution.worker import record_start, record_start_at
from graphtrial.training.checkpoint import Checkpoint
from graphtrial.training.outcome import Epoch
from graphtrial.trials.environment import environment
from graphtrial.trials.store import Store
from graphtrial.trials.trial import TrialSpec


def parcel_of(spec: TrialSpec, store: Store) -> Parcel:
    """Return all that another machine needs to start a trial, or to go on with it."""
    state = checkpoint_of(spec.id, store).content()
    return Parcel(spec.to_dict(), plugins.user_code(spec.plugins), environment()["code"], state)


def checkpoint_of(trial: str, store: Store) -> Checkpoint:
    """Return where the state of a trial is kept."""
    make_folder(store.trial_folder(trial))
    return Checkpoint(store.checkpoint_file(trial))


def take_news(heard: Iterable[News], trials: dict[str, TrialSpec], store: Store) -> None:
    """Write down what was heard of these trials; news of others come too late to matter."""
    epochs: dict[str, list[Epoch]] = {}
    states: dict[str, bytes] = {}
    for news in heard:
        spec = trials.get(news.trial)
        if spec is None:
            continue
        if news.environment is not None:
            record_start_at(spec, store, news.environment)
        if news.epoch is not None:
            epochs.setdefault(spec.id, []).append(news.epoch)
        if news.state is not None:
            states[spec.id] = news.state
    for trial, state in states.items():  # first: an epoch that the store knows of can always be gone on from
        checkpoint_of(trial, store).put(state)
    store.add_epochs_of(epochs)


def take_result(spec: TrialSpec, result: Result, store: Store) -> None:
    """Write down how a trial ended."""
    if not store.trials([spec.id]):  # it ended before it could say that it started
        record_start(spec, store)
    if result.outcome is None:
        store.mark(spec.id, "failed", result.error)
        return
    store.finish(spec.id, result.outcome, result.weights)
    checkpoint_of(spec.id, store).remove()
