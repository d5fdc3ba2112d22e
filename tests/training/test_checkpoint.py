from __future__ import annotations

from pathlib import Path

import pytest
import torch

from graphtrial.training.checkpoint import Checkpoint


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    made = Checkpoint(tmp_path / "checkpoint.safetensors")
    for epoch in (1, 2):
        made.save({"weight": torch.full((3,), float(epoch))}, {"epoch": epoch})
    return made


def test_the_newest_state_is_read_back(checkpoint: Checkpoint) -> None:
    saved = checkpoint.load()
    assert saved is not None
    assert saved[1] == {"epoch": 2}
    assert saved[0]["weight"].tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("position", [3, 40, -1])
def test_a_flipped_byte_is_noticed_and_the_state_before_is_used(checkpoint: Checkpoint, position: int) -> None:
    content = bytearray(checkpoint.path.read_bytes())
    content[position] ^= 0x10
    checkpoint.path.write_bytes(content)
    saved = checkpoint.load()
    assert saved is not None
    assert saved[1] == {"epoch": 1}


@pytest.mark.parametrize("kept", [0, 5, 100])
def test_a_truncated_file_is_noticed_and_the_state_before_is_used(checkpoint: Checkpoint, kept: int) -> None:
    checkpoint.path.write_bytes(checkpoint.path.read_bytes()[:kept])
    saved = checkpoint.load()
    assert saved is not None
    assert saved[1] == {"epoch": 1}


def test_with_both_files_damaged_training_starts_anew(checkpoint: Checkpoint) -> None:
    checkpoint.path.write_bytes(b"")
    checkpoint.previous.write_bytes(b"garbage")
    assert checkpoint.load() is None


def test_removing_leaves_nothing(checkpoint: Checkpoint) -> None:
    checkpoint.remove()
    assert checkpoint.load() is None
    assert not list(checkpoint.path.parent.iterdir())
