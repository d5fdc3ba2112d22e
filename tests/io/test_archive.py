"""Malicious and corrupt archives."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from graphtrial.core.errors import CorruptFileError
from graphtrial.io.archive import unpack

Make = Callable[[Path, list[tuple[str, bytes]]], Path]


def make_zip(folder: Path, members: list[tuple[str, bytes]]) -> Path:
    path = folder / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def make_tar(folder: Path, members: list[tuple[str, bytes]]) -> Path:
    path = folder / "a.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


both = pytest.mark.parametrize("make", [make_zip, make_tar])


def run(archive: Path, *members: str, member_bytes: int = 10**6, total_bytes: int = 10**7) -> Path:
    target = archive.parent / "out"
    unpack(archive, members, target, member_bytes=member_bytes, total_bytes=total_bytes)
    return target


def refused(archive: Path, message: str, *members: str, **limits: int) -> None:
    with pytest.raises(CorruptFileError, match=message):
        run(archive, *members, **limits)
    assert sorted(p.name for p in archive.parent.iterdir()) == [archive.name], "something was left behind"


@both
def test_only_declared_members_are_unpacked(make: Make, tmp_path: Path) -> None:
    out = run(make(tmp_path, [("d/a.txt", b"aaa"), ("d/b.txt", b"bbb"), ("setup.py", b"evil")]), "d/a.txt", "d/b.txt")
    assert sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()) == ["d/a.txt", "d/b.txt"]
    assert (out / "d" / "b.txt").read_bytes() == b"bbb"


@both
@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "d/../../evil", "C:/evil", "d\\..\\evil", "\\\\host\\evil"])
def test_unsafe_names_are_refused_even_undeclared(make: Make, tmp_path: Path, name: str) -> None:
    refused(make(tmp_path, [(name, b"x"), ("a.txt", b"aaa")]), "unsafe name", "a.txt")


@both
def test_member_above_size_limit_raises(make: Make, tmp_path: Path) -> None:
    refused(make(tmp_path, [("a.txt", bytes(2_000_000))]), "unpacks to more than 1000000 bytes", "a.txt")


@both
def test_total_above_size_limit_raises(make: Make, tmp_path: Path) -> None:
    archive = make(tmp_path, [("a.txt", bytes(900)), ("b.txt", bytes(900))])
    refused(archive, "unpacks to more than", "a.txt", "b.txt", total_bytes=1000)


def test_undeclared_bomb_in_a_tar_raises(tmp_path: Path) -> None:
    archive = make_tar(tmp_path, [("bomb", bytes(60_000_000)), ("a.txt", b"aaa")])
    refused(archive, "unpacks to more than it may", "a.txt")


@both
def test_duplicate_member_raises(make: Make, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate") if make is make_zip else nullcontext():
        archive = make(tmp_path, [("a.txt", b"aaa"), ("a.txt", b"bbb")])
    refused(archive, "holds a.txt twice", "a.txt")


@both
def test_missing_member_is_named(make: Make, tmp_path: Path) -> None:
    refused(make(tmp_path, [("a.txt", b"aaa")]), "does not hold b.txt", "a.txt", "b.txt")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE])
def test_links_and_devices_in_a_tar_raise(tmp_path: Path, kind: bytes) -> None:
    path = tmp_path / "a.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("a.txt")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    refused(path, "something else than a plain file", "a.txt")


def test_link_in_a_zip_raises(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    info = zipfile.ZipInfo("a.txt")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    refused(path, "something else than a plain file", "a.txt")


@both
def test_truncated_archive_raises(make: Make, tmp_path: Path) -> None:
    archive = make(tmp_path, [("a.txt", bytes(range(256)) * 1000)])
    archive.write_bytes(archive.read_bytes()[:-200])
    refused(archive, "cannot be unpacked", "a.txt")


def test_flipped_byte_in_a_zip_is_detected(tmp_path: Path) -> None:
    archive = make_zip(tmp_path, [("a.txt", bytes(range(256)) * 4)])
    content = bytearray(archive.read_bytes())
    content[100] ^= 1
    archive.write_bytes(content)
    refused(archive, "cannot be unpacked", "a.txt")


def test_html_page_is_not_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_text("<html>not found</html>")
    refused(path, "cannot be unpacked", "a.txt")
