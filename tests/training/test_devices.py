"""The training loop on a fake device and on the portable path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.helpers.mps import MPS_DTYPES, MPS_OPERATORS
from tests.helpers.pretend import Pretended, Real, pretended

from graphtrial.core.hardware.compute import ONE_CORE, Compute
from graphtrial.graphs import transfer
from graphtrial.training.batches import Job
from graphtrial.training.checkpoint import Checkpoint
from graphtrial.training.outcome import MIXED_DEVICES, Epoch, Outcome
from graphtrial.training.trainer import train

MakeJob = Callable[..., Job]
PLAIN = {"dropout": 0.0}
GPU = Compute("cuda:0", threads=1)
# Not Adam: a bias before batch norm has no gradient but rounding, which Adam scales up to the learning rate.
RULES = {"stopping.max_epochs": 3, "optimizer": "sgd:lr=0.01"}


def close(ours: Outcome, theirs: Outcome, tolerance: float = 1e-3) -> None:
    for a, b in zip(ours.epochs, theirs.epochs, strict=True):
        assert (a.train_loss, a.val_loss) == pytest.approx((b.train_loss, b.val_loss), rel=tolerance)
    assert ours.scores == pytest.approx(theirs.scores, abs=10.1)  # one of ten examples
    assert {name: w.device.type for name, w in ours.weights.items()} == dict.fromkeys(theirs.weights, "cpu")


def on_device(job: Job, device: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Outcome, Pretended | Real]:
    with pretended(device, monkeypatch) as mode:
        return train(job, compute=Compute(device, threads=1)), mode


@pytest.mark.parametrize("device", ["cuda:0", "mps"])
@pytest.mark.parametrize("resident", [True, False])
def test_training_stays_on_its_device(
    make_job: MakeJob, device: str, resident: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not resident:
        monkeypatch.setattr(transfer, "MAX_RESIDENT_BYTES", 0)
    rules = {**RULES, "clip_grad_norm": 1.0}
    ours, mode = on_device(make_job(rules, settings=PLAIN), device, monkeypatch)
    close(ours, train(make_job(rules, settings=PLAIN)))
    assert device != "mps" or mode.operators <= MPS_OPERATORS, sorted(mode.operators - MPS_OPERATORS)
    assert mode.dtypes <= MPS_DTYPES


@pytest.mark.parametrize("optimizer", ["adam:lr=0.01", "adamw:lr=0.01", "sgd:lr=0.01,momentum=0.9"])
@pytest.mark.parametrize("schedule", ["constant", "one-cycle"])
def test_training_step_does_not_synchronize(
    make_job: MakeJob, optimizer: str, schedule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = {**RULES, "optimizer": optimizer, "schedule": schedule}
    waits = []
    for batch_size in (20, 4):  # two and ten steps in an epoch
        job = make_job({**rules, "batch_size": batch_size}, settings=PLAIN)
        waits.append(on_device(job, "cuda:0", monkeypatch)[1].syncs)
    assert waits[0] == waits[1], "an epoch of more steps waits more often"


def test_accumulated_gradients_stay_on_the_device(make_job: MakeJob, monkeypatch: pytest.MonkeyPatch) -> None:
    for accumulation in (2, "as-published"):
        rules = {**RULES, "accumulation": accumulation}
        ours, _ = on_device(make_job(rules, settings=PLAIN), "cuda:0", monkeypatch)
        close(ours, train(make_job(rules, settings=PLAIN)))


def test_training_resumed_on_another_device_is_marked_mixed(
    make_job: MakeJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "checkpoint"

    def stop(epoch: Epoch) -> None:
        if epoch.epoch in (1, 2):
            raise KeyboardInterrupt

    rules = {**RULES, "stopping.max_epochs": 4}
    job = make_job(rules, settings=PLAIN)
    with pretended("cuda:0", monkeypatch), pytest.raises(KeyboardInterrupt):
        train(job, path, stop, GPU)
    saved = Checkpoint(path).load()
    assert saved is not None
    assert {"random.torch", "random.cuda", "random.data"} <= saved[0].keys()
    with pytest.raises(KeyboardInterrupt):
        train(make_job(rules, settings=PLAIN), path, stop)
    saved = Checkpoint(path).load()
    assert saved is not None
    assert "random.cuda" in saved[0], "the generator state of the GPU is kept for resuming there"
    with pretended("cuda:0", monkeypatch):
        mixed = train(make_job(rules, settings=PLAIN), path, compute=GPU)
    assert [device.partition(" ")[0] for device in mixed.details[MIXED_DEVICES]] == ["cuda", "cpu"]
    whole = train(make_job(rules, settings=PLAIN))
    assert MIXED_DEVICES not in whole.details
    close(mixed, whole)


def test_device_out_of_memory_has_status_oom(make_job: MakeJob, monkeypatch: pytest.MonkeyPatch) -> None:
    freed = []

    class Greedy(torch.nn.Linear):
        def forward(self, x: object) -> torch.Tensor:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 40.00 GiB.")

    job = replace(make_job(), build=lambda: Greedy(2, 2))
    with pretended("cuda:0", monkeypatch):
        monkeypatch.setattr(torch.cuda, "empty_cache", lambda: freed.append(1))
        assert train(job, compute=GPU).status == "oom"
        assert freed
        assert train(make_job(RULES), compute=GPU).status == "done"


def test_portable_path_gives_the_same_scores(make_job: MakeJob) -> None:
    close(
        train(make_job(RULES, settings=PLAIN), compute=replace(ONE_CORE, portable=True)),
        train(make_job(RULES, settings=PLAIN)),
    )


@pytest.mark.long
@pytest.mark.parametrize("portable", [False, True])
def test_compiled_model_trains_to_the_same_losses(make_job: MakeJob, portable: bool) -> None:
    """Minutes of compilation for seconds of training."""
    close(
        train(make_job(RULES, settings=PLAIN), compute=replace(ONE_CORE, compile=True, portable=portable)),
        train(make_job(RULES, settings=PLAIN)),
    )
