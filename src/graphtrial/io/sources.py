"""Raw files from a mirror folder, the raw cache or the internet, always verified by SHA-256."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.core.files import cache_home, make_folder, sha256_of, write_text
from graphtrial.io.download import download

GIBIBYTE = 1 << 30


@dataclass(frozen=True)
class File:
    """A published file: path below the mirror or raw cache, URL, checksum, size and licence.

    With `sha256=None` (no published checksum) the hash of the first download is pinned in the raw cache (trust on
    first use). `limit_bytes` limits a download of unknown size.
    """

    name: str
    url: str | None = None
    sha256: str | None = None
    size: int | None = None
    licence: str = ""
    limit_bytes: int = 2 * GIBIBYTE

    @property
    def by_hand(self) -> str:
        """Instructions for a manual download."""
        where = f"fetch it from {self.url}, " if self.url else ""
        return f"{where}put it into a folder as {self.name} and set GRAPHTRIAL_MIRROR to that folder"


def mirror() -> Path | None:
    """Return the folder in `GRAPHTRIAL_MIRROR`, or None if it is not set."""
    configured = os.environ.get("GRAPHTRIAL_MIRROR")
    if not configured:
        return None
    folder = Path(configured)
    if not folder.is_dir():
        raise GraphTrialError(f"GRAPHTRIAL_MIRROR is {configured}, which is not a folder; correct it or unset it")
    return folder


def find(file: File) -> Path | None:
    """Return the local path of a file in the mirror or the raw cache, or None."""
    candidates = (_mirrored(file), _raw_home() / file.name)
    return next((path for path in candidates if path is not None and path.is_file()), None)


def published_hash(file: File) -> str | None:
    """Return the expected SHA-256: the declared one, else the pinned one, else None."""
    if file.sha256 is not None:
        return file.sha256
    pin = _pin(file)
    return pin.read_text(encoding="utf-8").strip() if pin.is_file() else None


def fetch(file: File) -> Path:
    """Return the verified local path of a file, from the mirror, the raw cache or a download, in this order."""
    path = find(file)
    if path is not None:
        verify(file, path)
        return path
    if file.url is None:
        raise GraphTrialError(f"{file.name} is not on this machine and cannot be downloaded: {file.by_hand}")
    target = _raw_home() / file.name
    make_folder(target.parent)
    with FileLock(f"{target}.lock"):
        if target.is_file():  # downloaded by another process meanwhile
            verify(file, target)
        else:
            download(
                file.url,
                target,
                size=file.size,
                limit_bytes=file.limit_bytes,
                advice=file.by_hand,
                check=lambda path: verify(file, path),
            )
    return target


def verify(file: File, path: Path) -> None:
    """Raise `CorruptFileError` on a checksum mismatch; outside the mirror the file is renamed to `.corrupt`."""
    expected, actual = published_hash(file), sha256_of(path)
    if expected is None:
        write_text(_pin(file), f"{actual}\n")
        return
    if actual == expected:
        return
    name, size = Path(file.name).name, path.stat().st_size
    mismatch = f"{name} has sha256 {actual[:12]}... but {expected[:12]}... was expected"
    if file.size is not None and size < file.size:
        mismatch = f"{name} is cut off, it has {size} of {file.size} bytes"
    pinned = f"; if its publisher replaced it, delete {_pin(file)} to accept it" if file.sha256 is None else ""
    if path == _mirrored(file):
        raise CorruptFileError(f"{mismatch}; replace {path} in the mirror{pinned}")
    quarantine = _raw_home() / f"{file.name}.corrupt"
    os.replace(path, quarantine)
    raise CorruptFileError(f"{mismatch}; the file was moved to {quarantine}, run the command again to fetch it{pinned}")


def _mirrored(file: File) -> Path | None:
    folder = mirror()
    return folder / file.name if folder is not None else None


def _pin(file: File) -> Path:
    return _raw_home() / f"{file.name}.sha256"


def _raw_home() -> Path:
    return cache_home() / "raw"
