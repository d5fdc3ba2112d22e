"""Cache folders: location and integrity."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphtrial.core.cache import cache_folder, verify_digests, write_digests
from graphtrial.core.errors import CorruptFileError

KEY = "0123456789abcdef" * 4


@pytest.mark.parametrize("name", ["csl", "../../x", "/etc/passwd", "a:b", "..", "", "ü☃", "x" * 5000, "a\x00b"])
def test_cache_folder_stays_below_its_root_for_any_name(name: str, own_home: Path) -> None:
    folder = cache_folder("datasets", name, KEY)
    assert folder.parent == own_home / "datasets"
    assert folder.name.endswith("-0123456789abcdef")
    assert len(folder.name) < 150


@pytest.mark.parametrize("key", ["", "../../x", "0123", "/0123456789abcdef", "0123456789ABCDEF"])
def test_cache_key_must_be_a_digest(key: str) -> None:
    with pytest.raises(ValueError, match="not a digest"):
        cache_folder("datasets", "csl", key)


def test_flipped_bit_of_a_sealed_folder_is_detected(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_bytes(b"abc")
    write_digests(tmp_path)
    verify_digests(tmp_path)
    for file in (tmp_path / "in" / "a", tmp_path / "digests.json"):
        whole = file.read_bytes()
        for position in range(len(whole)):
            content = bytearray(whole)
            content[position] ^= 1 << position % 8
            file.write_bytes(content)
            with pytest.raises(CorruptFileError):
                verify_digests(tmp_path)
        file.write_bytes(whole)
    (tmp_path / "b").write_bytes(b"")
    with pytest.raises(CorruptFileError, match="changed"):
        verify_digests(tmp_path)
    (tmp_path / "digests.json").unlink()
    with pytest.raises(CorruptFileError, match="not complete"):
        verify_digests(tmp_path)
