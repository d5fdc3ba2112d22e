"""Truncated files and flipped bits in caches, checkpoints and stores are detected and repaired."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
import torch
from tests.helpers.results import results
from tests.helpers.sites import sample_store
from tests.helpers.tally import Tally

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import Component
from graphtrial.datasets import load
from graphtrial.encodings import encode
from graphtrial.execution import run_trials
from graphtrial.execution.worker import DriverGoneError, run_and_record
from graphtrial.graphs import GraphSet
from graphtrial.shipped import packed as shipped_file
from graphtrial.shipped import ship, shipped_store
from graphtrial.studies import ModelEntry, Study
from graphtrial.training.checkpoint import Checkpoint
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.trials import Store
from graphtrial.trials.shapes import make_encoding
from graphtrial.trials.weights import serialize_weights

pytestmark = pytest.mark.slow


def damage(path: Path, rng: random.Random) -> str:
    """Cut a file off or change some of its bits; return what was done."""
    content = bytearray(path.read_bytes())
    if rng.random() < 0.4:
        content = content[: rng.randrange(len(content))]
        kind = "truncated"
    else:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        kind = "bit flip"
    path.write_bytes(content)
    return kind


def encoded() -> GraphSet:
    encoding = make_encoding(Component("laplacian", {"k": 4}))
    assert encoding is not None
    return encode(load("csl").graphs, encoding, "encoding")


def test_corrupt_cache_is_rebuilt(own_home: Path, times: int, tally: Tally) -> None:
    rng = random.Random(f"cache{times}")
    expected = encoded().content_hash
    keep = own_home.with_name("keep")
    shutil.copytree(own_home, keep)
    files = [path for path in sorted(own_home.rglob("*")) if path.suffix in (".npy", ".json")]
    assert len(files) > 10
    for number in range(1000 if times else 25):
        victim = files[number % len(files)]
        before = victim.read_bytes()
        kind = damage(victim, rng)
        assert encoded().content_hash == expected, f"{kind}: {victim.name}"
        if victim.read_bytes() != before:  # undetected changes must not affect the values read
            assert victim.suffix == ".npy"
            assert load("csl").hash
            shutil.rmtree(own_home)
            shutil.copytree(keep, own_home)
        room = victim.relative_to(own_home).parts[0]
        tally.add("cache", f"file of prepared {room}: {kind}", "detected and rebuilt, or read with identical values")


@pytest.mark.parametrize("which", ["newest", "both"])
def test_corrupt_checkpoint_resumes_bit_exact(
    which: str, tmp_path: Path, times: int, tally: Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphtrial.training.checkpoint.MAX_FRACTION", 1)  # one after each epoch
    spec = Study(
        "s", "csl", (ModelEntry("gin", {"width": 8, "layers": 2}),), seeds=1, splits=1, rules={"stopping.max_epochs": 4}
    ).trials()[0]
    calm = Store(tmp_path / "calm" / "s.sqlite")
    run_trials([spec], calm, workers=0)
    rng = random.Random(which)
    for number in range(50 if times else 2):
        store = Store(tmp_path / f"rough{number}" / "s.sqlite")

        def stop(epoch: Epoch) -> None:
            if epoch.epoch == 3:
                raise DriverGoneError

        with pytest.raises(DriverGoneError):
            run_and_record(spec, store, stop)
        state = Checkpoint(store.trials_folder / spec.id / "checkpoint.safetensors")
        kind = damage(state.path, rng)
        if which == "both":
            damage(state.previous, rng)
        received: list[int] = []
        run_and_record(spec, store, lambda epoch, received=received: received.append(epoch.epoch))  # type: ignore[misc]
        assert received[0] == (3 if which == "newest" else 1)
        assert results(store) == results(calm)
        shutil.rmtree(store.path.parent)
        tally.add("checkpoint", f"{which} of two: {kind}", "detected, previous checkpoint used, same bits")


def test_flipped_bit_of_a_checkpoint_is_detected(tmp_path: Path) -> None:
    state = Checkpoint(tmp_path / "checkpoint.safetensors")
    state.save({"weight": torch.arange(6.0)}, {"epoch": 1})
    whole = state.path.read_bytes()
    for position in range(len(whole)):
        content = bytearray(whole)
        content[position] ^= 1 << (position % 8)
        state.path.write_bytes(content)
        actual = state.load()
        assert actual is None or (actual[1] == {"epoch": 1} and actual[0]["weight"].tolist() == list(range(6)))


def everything(store: Store) -> object:
    """Return all trials of a store with their epochs."""
    return [(record, store.history(record.id), store.weights(record)) for record in store.trials()]


def test_corruption_of_store_or_weights_is_detected(tmp_path: Path, times: int, tally: Tally) -> None:
    trials = Study(
        "s",
        "csl",
        (ModelEntry("gin", {"width": 8, "layers": 2}),),
        seeds=1,
        splits=3,
        rules={"stopping.max_epochs": 30},
    ).trials()
    store = Store(tmp_path / "s" / "s.sqlite")
    history = [Epoch(n, 1e-3, 1 / n, 2 / n, 50.0 + n, 0.1) for n in range(1, 31)]
    for number, spec in enumerate(trials):
        store.start(spec, "accuracy", True, {"cpu": "x" * 300})
        scores = {"train": 80.0, "val": 22.2, "test": 20.0 + number}
        store.finish(spec.id, Outcome("done", 1234, history, scores), serialize_weights({"w": torch.arange(300.0)}))
    expected = everything(store)
    rng = random.Random(f"store{times}")
    for number in range(5000 if times else 400):
        weights = number % 4 == 3
        victim = store.weights_file(trials[number % 3].id) if weights else store.path
        whole = victim.read_bytes()
        kind = damage(victim, rng)
        try:
            actual = everything(Store(store.path, read_only=True))
        except GraphTrialError:
            actual = expected  # refused with a message
        # what passes is a bit that no trial is read from: a free page, a counter
        assert actual == expected, f"{kind} of {victim.name} went unnoticed"
        victim.write_bytes(whole)
        target_name = "a weights file" if weights else "the store"
        tally.add("store", f"{target_name}: {kind}", "one-line error, or read with identical values")
    assert everything(store) == expected


def test_corruption_of_unpacked_results_is_detected(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch, times: int, tally: Tally
) -> None:
    file = tmp_path / "package" / shipped_file.FILE
    ship(sample_store(tmp_path / "store.sqlite"), file)
    monkeypatch.setattr(shipped_file, "packed", lambda: file)
    store = shipped_store()
    whole, rng = store.path.read_bytes(), random.Random("shipped")
    for _ in range(500 if times else 20):
        kind = damage(store.path, rng)
        assert shipped_store().path.read_bytes() == whole
        tally.add("store", f"the unpacked results: {kind}", "detected and unpacked again")
