"""Safe unpacking: only declared members, sizes counted as they decompress, no name that leaves its folder, no links."""

from __future__ import annotations

import errno
import gzip
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from graphtrial.core.errors import CorruptFileError
from graphtrial.core.files import atomic_folder, make_folder

CHUNK_BYTES = 1 << 20
_DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    gzip.BadGzipFile,
    EOFError,
    NotImplementedError,
    RuntimeError,
)


Choose = Callable[[str], str | None]


def is_zip(path: Path) -> bool:
    """Tell whether a file is a zip archive, intact or not: a damaged one says so when it is opened."""
    try:
        return zipfile.is_zipfile(path)
    except zipfile.BadZipFile:  # its last records contradict each other
        return True


def unpack(archive: Path, members: Sequence[str], target: Path, *, member_bytes: int, total_bytes: int) -> None:
    """Unpack the declared members of a .zip, .tar or .tar.gz file below `target`, which appears complete or not at all.

    `member_bytes` and `total_bytes` cap what is decompressed. Raises `CorruptFileError` where the archive is damaged,
    lacks a member, has it twice, or holds a name, link or size that no honest archive has.
    """
    wanted = set(members)
    for name in wanted:
        _check_name(archive, name)
    unpack_chosen(
        archive,
        lambda name: name if name in wanted else None,
        target,
        needed=wanted,
        member_bytes=member_bytes,
        total_bytes=total_bytes,
    )


def unpack_chosen(
    archive: Path,
    choose: Choose,
    target: Path,
    *,
    needed: Collection[str] = (),
    member_bytes: int,
    total_bytes: int,
) -> None:
    """Unpack as `unpack` does, but the members to which `choose` gives a name below `target`."""
    found: set[str] = set()
    left = total_bytes
    with atomic_folder(target) as folder:
        try:
            for name, stream in _open_members(archive, choose, total_bytes):
                if name in found:
                    raise CorruptFileError(f"{archive.name} holds {name} twice; fetch it again")
                found.add(name)
                left -= _write(stream, folder / name, archive, min(member_bytes, left))
        except _DAMAGE as error:
            raise CorruptFileError(f"{archive.name} cannot be unpacked: {error}; fetch it again") from error
        except OSError as error:
            if error.errno != errno.EINVAL:  # a place before the beginning of the file, where a record points to
                raise
            raise CorruptFileError(f"{archive.name} cannot be unpacked; fetch it again") from error
        missing = ", ".join(sorted(set(needed) - found))
        if missing:
            raise CorruptFileError(f"{archive.name} does not hold {missing}; it is not the published file")


def _open_members(archive: Path, choose: Choose, total_bytes: int) -> Iterator[tuple[str, IO[bytes]]]:
    if is_zip(archive):
        return _open_zip(archive, choose)
    return _open_tar(archive, choose, total_bytes)


def _open_zip(archive: Path, choose: Choose) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            _check_name(archive, info.filename)
            name = choose(info.filename)
            if name is None:
                continue
            kind = stat.S_IFMT(info.external_attr >> 16)
            if info.is_dir() or kind not in (0, stat.S_IFREG):
                raise CorruptFileError(f"{archive.name} holds {info.filename} as something else than a plain file")
            with opened.open(info) as stream:
                yield name, stream


def _open_tar(archive: Path, choose: Choose, total_bytes: int) -> Iterator[tuple[str, IO[bytes]]]:
    with archive.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        plain: Any = gzip.GzipFile(fileobj=raw) if packed else raw
        # Skipping a member decompresses it too, so the whole stream is capped; 25 percent are for headers and padding.
        capped: Any = _Capped(plain, total_bytes + total_bytes // 4 + 10 * CHUNK_BYTES, archive)
        with tarfile.open(fileobj=capped, mode="r|") as opened:
            for info in opened:
                _check_name(archive, info.name)
                name = choose(info.name)
                if name is None:
                    continue
                stream = opened.extractfile(info) if info.isreg() and not info.issparse() else None
                if stream is None:
                    raise CorruptFileError(f"{archive.name} holds {info.name} as something else than a plain file")
                yield name, stream


class _Capped:
    """A stream that refuses to give more than `limit` bytes."""

    def __init__(self, stream: IO[bytes], limit: int, archive: Path) -> None:
        self._stream, self._left, self._archive = stream, limit, archive

    def read(self, size: int = -1) -> bytes:
        chunk = self._stream.read(size)
        self._left -= len(chunk)
        if self._left < 0:
            raise CorruptFileError(f"{self._archive.name} unpacks to more than it may; it is not the published file")
        return chunk


def _write(stream: IO[bytes], path: Path, archive: Path, limit: int) -> int:
    make_folder(path.parent)
    written = 0
    with path.open("xb") as out:
        while chunk := stream.read(CHUNK_BYTES):
            written += len(chunk)
            if written > limit:
                raise CorruptFileError(
                    f"{path.name} in {archive.name} unpacks to more than {limit} bytes; it is not the published file"
                )
            out.write(chunk)
    return written


def _check_name(archive: Path, name: str) -> None:
    parts = re.split(r"[/\\]", name)
    if not name or "\0" in name or parts[0] == "" or ".." in parts or re.match(r"[A-Za-z]:", name):
        raise CorruptFileError(f"{archive.name} holds the unsafe name {name!r}; it was not unpacked")
