"""Safe extraction of zip and tar archives: size limits, no path traversal, no links, only the selected members."""

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
_CORRUPT = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    gzip.BadGzipFile,
    EOFError,
    NotImplementedError,
    RuntimeError,
)


Select = Callable[[str], str | None]


def is_zip(path: Path) -> bool:
    """Return whether a file is a zip archive, intact or not; a corrupt one raises when it is opened."""
    try:
        return zipfile.is_zipfile(path)
    except zipfile.BadZipFile:  # inconsistent end-of-central-directory records
        return True


def unpack(archive: Path, members: Sequence[str], target: Path, *, member_bytes: int, total_bytes: int) -> None:
    """Extract `members` of a .zip, .tar or .tar.gz file to the folder `target`, atomically.

    `member_bytes` and `total_bytes` limit the decompressed size. Raises `CorruptFileError` for a corrupt archive, a
    missing or duplicate member, an unsafe name, a link, or an exceeded limit.
    """
    wanted = set(members)
    for name in wanted:
        _check_name(archive, name)
    unpack_chosen(
        archive,
        lambda name: name if name in wanted else None,
        target,
        required=wanted,
        member_bytes=member_bytes,
        total_bytes=total_bytes,
    )


def unpack_chosen(
    archive: Path,
    select: Select,
    target: Path,
    *,
    required: Collection[str] = (),
    member_bytes: int,
    total_bytes: int,
) -> None:
    """Like `unpack`, for the members that `select` maps to a path below `target` (None skips a member)."""
    extracted: set[str] = set()
    remaining = total_bytes
    with atomic_folder(target) as folder:
        try:
            for name, stream in _open_members(archive, select, total_bytes):
                if name in extracted:
                    raise CorruptFileError(f"{archive.name} holds {name} twice; fetch it again")
                extracted.add(name)
                remaining -= _write(stream, folder / name, archive, min(member_bytes, remaining))
        except _CORRUPT as error:
            raise CorruptFileError(f"{archive.name} cannot be unpacked: {error}; fetch it again") from error
        except OSError as error:
            if error.errno != errno.EINVAL:  # a corrupt record points to a negative offset
                raise
            raise CorruptFileError(f"{archive.name} cannot be unpacked; fetch it again") from error
        missing = ", ".join(sorted(set(required) - extracted))
        if missing:
            raise CorruptFileError(f"{archive.name} does not hold {missing}; it is not the published file")


def _open_members(archive: Path, select: Select, total_bytes: int) -> Iterator[tuple[str, IO[bytes]]]:
    if is_zip(archive):
        return _open_zip(archive, select)
    return _open_tar(archive, select, total_bytes)


def _open_zip(archive: Path, select: Select) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            _check_name(archive, info.filename)
            name = select(info.filename)
            if name is None:
                continue
            kind = stat.S_IFMT(info.external_attr >> 16)
            if info.is_dir() or kind not in (0, stat.S_IFREG):
                raise CorruptFileError(f"{archive.name} holds {info.filename} as something else than a plain file")
            with opened.open(info) as stream:
                yield name, stream


def _open_tar(archive: Path, select: Select, total_bytes: int) -> Iterator[tuple[str, IO[bytes]]]:
    with archive.open("rb") as raw:
        is_gzip = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        plain: Any = gzip.GzipFile(fileobj=raw) if is_gzip else raw
        # Skipping a member decompresses it too, so the whole stream is limited; 25 percent are for headers and padding.
        limited: Any = _LimitedStream(plain, total_bytes + total_bytes // 4 + 10 * CHUNK_BYTES, archive)
        with tarfile.open(fileobj=limited, mode="r|") as opened:
            for info in opened:
                _check_name(archive, info.name)
                name = select(info.name)
                if name is None:
                    continue
                stream = opened.extractfile(info) if info.isreg() and not info.issparse() else None
                if stream is None:
                    raise CorruptFileError(f"{archive.name} holds {info.name} as something else than a plain file")
                yield name, stream


class _LimitedStream:
    """Stream that raises `CorruptFileError` after `limit` bytes."""

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
