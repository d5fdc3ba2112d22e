from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from graphtrial.training.checkpoint import Checkpoint


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    built = Checkpoint(tmp_path / "checkpoint.safetensors")
    for epoch in (1, 2):
        built.save({"weight": torch.full((3,), float(epoch))}, {"epoch": epoch})
    return built


def test_latest_checkpoint_is_loaded(checkpoint: Checkpoint) -> None:
    saved = checkpoint.load()
    assert saved is not None
    assert saved[1] == {"epoch": 2}
    assert saved[0]["weight"].tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("position", [3, 40, -1])
def test_flipped_byte_falls_back_to_previous_checkpoint(checkpoint: Checkpoint, position: int) -> None:
    content = bytearray(checkpoint.path.read_bytes())
    content[position] ^= 0x10
    checkpoint.path.write_bytes(content)
    saved = checkpoint.load()
    assert saved is not None
    assert saved[1] == {"epoch": 1}


@pytest.mark.parametrize("length", [0, 5, 100])
def test_truncated_file_falls_back_to_previous_checkpoint(checkpoint: Checkpoint, length: int) -> None:
    checkpoint.path.write_bytes(checkpoint.path.read_bytes()[:length])
    saved = checkpoint.load()
    assert saved is not None
    assert saved[1] == {"epoch": 1}


def test_two_damaged_checkpoints_restart_training(checkpoint: Checkpoint) -> None:
    checkpoint.path.write_bytes(b"")
    checkpoint.previous.write_bytes(b"garbage")
    assert checkpoint.load() is None


def test_remove_deletes_all_checkpoints(checkpoint: Checkpoint) -> None:
    checkpoint.remove()
    assert checkpoint.load() is None
    assert not list(checkpoint.path.parent.iterdir())


@pytest.mark.parametrize("dtype", ["I32", "U32"])
def test_checkpoint_digest_depends_on_dtype(checkpoint: Checkpoint, dtype: str) -> None:
    content = checkpoint.path.read_bytes()
    assert content.count(b'"F32"') == 1
    checkpoint.path.write_bytes(content.replace(b'"F32"', f'"{dtype}"'.encode()))
    saved = checkpoint.load()
    assert saved is not None
    assert saved[1] == {"epoch": 1}


def test_checkpoint_digest_depends_on_shape_and_name(checkpoint: Checkpoint) -> None:
    content = checkpoint.path.read_bytes()
    for old, new in ((b'"shape":[3]', b'"shape":[3,1]'), (b'"weight"', b'"wEight"')):
        assert content.count(old) == 1
        size = int.from_bytes(content[:8], "little")
        header = content[8 : 8 + size].replace(old, new).rstrip()
        header += b" " * (-len(header) % 8)
        checkpoint.path.write_bytes(len(header).to_bytes(8, "little") + header + content[8 + size :])
        saved = checkpoint.load()
        assert saved is not None
        assert saved[1] == {"epoch": 1}


def test_saving_takes_a_fraction_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint, clock, saved = Checkpoint(tmp_path / "c.safetensors"), 100.0, []
    monkeypatch.setattr("graphtrial.training.checkpoint.time.monotonic", lambda: clock)

    def write(tensors: dict[str, Tensor], facts: dict[str, int]) -> None:
        nonlocal clock
        clock += 1.0
        saved.append(facts["epoch"])

    monkeypatch.setattr(checkpoint, "_write", write)
    for epoch in range(1, 51):
        clock += 1.0
        with checkpoint.saving(lambda epoch=epoch: ({}, {"epoch": epoch})):  # type: ignore[misc]
            pass
    assert saved == [1, 20, 39]  # one second of saving in twenty


def test_an_exception_saves_what_is_not_due(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "c.safetensors")
    checkpoint._due_at = float("inf")
    with checkpoint.saving(lambda: ({}, {"epoch": 1})):
        pass
    assert checkpoint.load() is None
    with pytest.raises(KeyboardInterrupt), checkpoint.saving(lambda: ({"w": torch.ones(1)}, {"epoch": 2})):
        raise KeyboardInterrupt
    state = checkpoint.load()
    assert state is not None
    assert state[1] == {"epoch": 2}
