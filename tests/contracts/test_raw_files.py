"""Corrupt raw files of every dataset: one-line errors, no files left."""

from __future__ import annotations

import io
import os
import pickle
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import raw_data

from graphtrial.core.errors import CorruptFileError, GraphTrialError, MissingDependencyError
from graphtrial.datasets import DATASETS, Source, load
from graphtrial.io import File
from graphtrial.io.sources import fetch

HASHED = sorted({f for name in DATASETS for s in DATASETS.get(name).sources for f in s.files if f.sha256}, key=str)


def without_hash() -> list[tuple[str, Source, File]]:
    """One dataset for each reader of files without a published SHA-256."""
    actual: dict[tuple[str, str], tuple[str, Source, File]] = {}
    for name in DATASETS:
        spec = DATASETS.get(name)
        for source in spec.sources:
            for file in source.files:
                if file.sha256 is None:
                    actual.setdefault(
                        (f"{spec.parse.__module__}.{spec.parse.__qualname__}", file.name), (name, source, file)
                    )
    one_each: dict[tuple[str, str], tuple[str, Source, File]] = {}
    for (reader, path), case in actual.items():
        one_each.setdefault((reader, Path(path).suffix), case)
    return list(one_each.values())


class Evil:
    """Unpickling it would call os.system."""

    def __reduce__(self) -> Any:
        return os.system, ("touch EVIL",)


def a_zip(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def a_tar(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def flipped(content: bytes) -> bytes:
    middle = len(content) // 3
    return content[:middle] + bytes([content[middle] ^ 0x10]) + content[middle + 1 :]


NOISE = np.random.default_rng(0).bytes(5000)
BAD: dict[str, bytes] = {
    "a web page": b"<!DOCTYPE html>\n<html><body>404: not found</body></html>\n",
    "nothing": b"",
    "noise": NOISE,
    "a cut-off zip": a_zip({"data/a.txt": NOISE})[:-300],
    "a zip with a flipped bit": flipped(a_zip({"data/a.txt": NOISE})),
    "a zip that leaves its folder": a_zip({"../../evil.txt": b"x", "data/a.txt": b"y"}),
    "a zip of something else": a_zip({"readme.txt": b"hello"}),
    "a tar that leaves its folder": a_tar({"/etc/evil.txt": b"x"}),
    "a pickle of code": pickle.dumps(Evil(), protocol=2),
    "numbers": b"1, 2\n3, 4\n",
    "an empty object": b"{}",
}


@pytest.mark.slow
@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
@pytest.mark.parametrize(("name", "source", "file"), without_hash(), ids=lambda thing: getattr(thing, "name", thing))
def test_corrupt_raw_files_give_one_line_error_and_leave_no_files(
    name: str,
    source: Source,
    file: File,
    content: bytes,
    own_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mirror, scratch = tmp_path / "mirror", tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.chdir(scratch)
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setenv("GRAPHTRIAL_MIRROR", str(mirror))
    real = raw_data()
    for needed in source.files:
        path = mirror / needed.name
        path.parent.mkdir(parents=True, exist_ok=True)
        if needed is not file and needed.sha256 and real is not None and (real / needed.name).is_file():
            path.symlink_to(real / needed.name)
        else:
            path.write_bytes(content)
    try:
        with pytest.raises(GraphTrialError) as caught:
            load(name)
    finally:
        monkeypatch.setattr(tempfile, "tempdir", None)
    if isinstance(caught.value, MissingDependencyError):
        pytest.skip(str(caught.value))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
    assert list(scratch.iterdir()) == [], "something was left behind, or code was run"
    remaining = own_home / "datasets"
    assert [path for path in remaining.rglob("*") if path.suffix != ".lock"] == [] if remaining.exists() else True
    assert not list(tmp_path.rglob("evil.txt"))


@pytest.mark.parametrize(
    "damage", [flipped, lambda c: c[: len(c) // 2], lambda c: c + b"more"], ids=["flip", "cut", "add"]
)
@pytest.mark.parametrize("file", HASHED, ids=lambda file: file.name)
def test_flipped_byte_of_a_published_file_is_detected(
    file: File, damage: Callable[[bytes], bytes], mirror: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = mirror / file.name
    content = path.read_bytes() if path.is_file() and path.stat().st_size < 10_000_000 else NOISE
    monkeypatch.delenv("GRAPHTRIAL_MIRROR")
    placed = own_home / "raw" / file.name
    placed.parent.mkdir(parents=True)
    placed.write_bytes(damage(content))
    with pytest.raises(CorruptFileError, match=r"^[^\n]*moved to [^\n]*\.corrupt, run the command again[^\n]*$"):
        fetch(file)
    assert not placed.exists()


@pytest.mark.slow
def test_decompression_bomb_is_rejected(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mirror, scratch = tmp_path / "mirror" / "TU", tmp_path / "scratch"
    mirror.mkdir(parents=True)
    scratch.mkdir()
    bomb = a_zip({"Bomb/Bomb_A.txt": b"1, 2\n" * 30_000_000, "Bomb/Bomb_graph_indicator.txt": b"1\n1\n"})
    (mirror / "Bomb.zip").write_bytes(bomb)
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setenv("GRAPHTRIAL_MIRROR", str(mirror.parent))
    with pytest.raises(CorruptFileError, match=r"^Bomb_A.txt in Bomb.zip unpacks to more than \d+ bytes"):
        load("tu/Bomb")
    assert list(scratch.iterdir()) == []
