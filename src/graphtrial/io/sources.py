"""Where raw files come from: a mirror folder, the raw cache, the internet. No unverified byte is handed on."""

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
    """A published file: its path below the mirror or the raw cache, where it is served, and what it must be.

    A file whose SHA-256 nobody published has `sha256=None`: the hash seen first is then kept in the raw cache and holds
    from that time on. `limit_bytes` caps a download of unknown size.
    """

    name: str
    url: str | None = None
    sha256: str | None = None
    size: int | None = None
    licence: str = ""
    limit_bytes: int = 2 * GIBIBYTE

    @property
    def by_hand(self) -> str:
        """What a person can do where the file cannot be fetched."""
        where = f"fetch it from {self.url}, " if self.url else ""
        return f"{where}put it into a folder as {self.name} and set GRAPHTRIAL_MIRROR to that folder"


def mirror() -> Path | None:
    """Return the folder `GRAPHTRIAL_MIRROR` names, if it is set."""
    configured = os.environ.get("GRAPHTRIAL_MIRROR")
    if not configured:
        return None
    folder = Path(configured)
    if not folder.is_dir():
        raise GraphTrialError(f"GRAPHTRIAL_MIRROR is {configured}, which is not a folder; correct it or unset it")
    return folder


def find(file: File) -> Path | None:
    """Return where a file lies on this machine, mirror first, or nothing."""
    places = (_mirrored(file), _raw_home() / file.name)
    return next((path for path in places if path is not None and path.is_file()), None)


def known_hash(file: File) -> str | None:
    """Return the SHA-256 a file must have: the declared one, else the one seen first, else nothing."""
    if file.sha256 is not None:
        return file.sha256
    pin = _pin(file)
    return pin.read_text(encoding="utf-8").strip() if pin.is_file() else None


def fetch(file: File) -> Path:
    """Return the verified file from the mirror, the raw cache or the internet, in this order."""
    path = find(file)
    if path is not None:
        verify(file, path)
        return path
    if file.url is None:
        raise GraphTrialError(f"{file.name} is not on this machine and cannot be downloaded: {file.by_hand}")
    target = _raw_home() / file.name
    make_folder(target.parent)
    with FileLock(f"{target}.lock"):
        if target.is_file():  # another process was faster
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
    """Raise an error where the bytes of `path` are not the published ones; outside the mirror they are moved aside."""
    expected, actual = known_hash(file), sha256_of(path)
    if expected is None:
        write_text(_pin(file), f"{actual}\n")
        return
    if actual == expected:
        return
    name, size = Path(file.name).name, path.stat().st_size
    wrong = f"{name} has sha256 {actual[:12]}... but {expected[:12]}... was expected"
    if file.size is not None and size < file.size:
        wrong = f"{name} is cut off, it has {size} of {file.size} bytes"
    pinned = f"; if its publisher replaced it, delete {_pin(file)} to accept it" if file.sha256 is None else ""
    if path == _mirrored(file):
        raise CorruptFileError(f"{wrong}; replace {path} in the mirror{pinned}")
    aside = _raw_home() / f"{file.name}.corrupt"
    os.replace(path, aside)
    raise CorruptFileError(f"{wrong}; the file was moved to {aside}, run the command again to fetch it{pinned}")


def _mirrored(file: File) -> Path | None:
    folder = mirror()
    return folder / file.name if folder is not None else None


def _pin(file: File) -> Path:
    return _raw_home() / f"{file.name}.sha256"


def _raw_home() -> Path:
    return cache_home() / "raw"
