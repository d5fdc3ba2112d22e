"""Folders that are made once, whoever asks first, and made again when damaged."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from filelock import FileLock

from graphtrial.core.errors import CorruptFileError
from graphtrial.core.files import cache_home, make_folder, read_json, sha256_of, write_text
from graphtrial.core.spec import canonical_json

T = TypeVar("T")
logger = logging.getLogger(__name__)
DIGESTS = "digests.json"
LONGEST = 100


def place(room: str, name: str, key: str) -> Path:
    """Return the folder in the cache for a thing of this name and key; the name is for people, the key decides.

    Whatever the name is, the folder lies directly in its room: letters, digits and `._+-` stay, the rest becomes `-`.
    """
    safe = re.sub(r"[^A-Za-z0-9._+-]", "-", name)[:LONGEST].lstrip(".")
    if not re.fullmatch("[0-9a-f]{16,64}", key):
        raise ValueError(f"{key[:80]!r} is no digest")
    return cache_home() / room / f"{safe}-{key[:16]}"


def cached(folder: Path, make: Callable[[], None], read: Callable[[], T]) -> T:
    """Return what `read` finds in `folder`; where it is absent or damaged, `make` it first.

    Any number of processes may ask at once: one makes it, the others wait. `make` must write the folder atomically,
    `read` must raise `CorruptFileError` for damage.
    """
    make_folder(folder.parent)
    with FileLock(folder.with_name(f"{folder.name}.lock")):
        if folder.exists():
            try:
                return read()
            except CorruptFileError as error:
                logger.warning("%s; it is made again", error)
                shutil.rmtree(folder)
        make()
        return read()


def seal(folder: Path) -> None:
    """Write the SHA-256 of every file in a folder beside them, once all are written."""
    write_text(folder / DIGESTS, canonical_json(_digests(folder)))


def check_seal(folder: Path) -> None:
    """Raise `CorruptFileError` unless a folder has the files that it was sealed with, to the last bit."""
    try:
        intact = read_json(folder / DIGESTS) == _digests(folder)
    except OSError as error:
        raise CorruptFileError(f"{folder} is not complete: {error.strerror}") from error
    if not intact:
        raise CorruptFileError(f"{folder} was changed after it was written")


def _digests(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / DIGESTS)
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}
