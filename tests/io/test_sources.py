"""Mirror, raw cache, checksums and pins."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.io.sources import File, fetch, find, published_hash

GOOD = b"the published bytes\n"
FILE = File("fam/data.txt", sha256=hashlib.sha256(GOOD).hexdigest(), size=len(GOOD))


@pytest.fixture
def folder(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror of this test alone."""
    built = tmp_path / "mirror"
    (built / "fam").mkdir(parents=True)
    monkeypatch.setenv("GRAPHTRIAL_MIRROR", str(built))
    return built


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_mirror_takes_precedence_over_raw_cache(folder: Path, own_home: Path) -> None:
    raw = put(own_home / "raw" / FILE.name, GOOD)
    assert fetch(FILE) == raw
    mirrored = put(folder / FILE.name, GOOD)
    assert fetch(FILE) == find(FILE) == mirrored


def test_corrupt_file_in_the_mirror_is_named_and_kept(folder: Path) -> None:
    path = put(folder / FILE.name, b"the published byteS\n")
    with pytest.raises(CorruptFileError, match=r"data.txt has sha256 .* but .* was expected; replace .*fam/data.txt"):
        fetch(FILE)
    assert path.exists()


def test_corrupt_file_in_the_raw_cache_is_quarantined(own_home: Path) -> None:
    path = put(own_home / "raw" / FILE.name, b"something else, longer\n")
    with pytest.raises(CorruptFileError, match=r"moved to .*data.txt.corrupt, run the command again"):
        fetch(FILE)
    assert not path.exists()
    assert path.with_name("data.txt.corrupt").exists()


def test_truncated_file_is_reported_as_truncated(own_home: Path) -> None:
    put(own_home / "raw" / FILE.name, GOOD[:5])
    with pytest.raises(CorruptFileError, match="cut off, it has 5 of 20 bytes"):
        fetch(FILE)


def test_mirror_that_does_not_exist_raises(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHTRIAL_MIRROR", "/nowhere/at/all")
    with pytest.raises(GraphTrialError, match="GRAPHTRIAL_MIRROR is /nowhere/at/all, which is not a folder"):
        fetch(FILE)


def test_missing_file_without_url_gives_advice(own_home: Path) -> None:
    with pytest.raises(GraphTrialError, match=r"put it into a folder as fam/data.txt and set GRAPHTRIAL_MIRROR"):
        fetch(FILE)


def test_offline_mode_forbids_downloads(own_home: Path) -> None:
    with pytest.raises(GraphTrialError, match="GRAPHTRIAL_OFFLINE forbids"):
        fetch(File("fam/other.txt", url="https://example.invalid/other.txt"))


def test_file_without_published_hash_is_pinned_on_first_use(folder: Path) -> None:
    unpinned = File("fam/free.bin")
    path = put(folder / unpinned.name, b"first")
    assert published_hash(unpinned) is None
    fetch(unpinned)
    assert published_hash(unpinned) == hashlib.sha256(b"first").hexdigest()
    path.write_bytes(b"second")
    with pytest.raises(CorruptFileError, match=r"if its publisher replaced it, delete .*free.bin.sha256"):
        fetch(unpinned)
