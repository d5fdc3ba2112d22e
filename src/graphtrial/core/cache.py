"""Build-once cache folders: file-locked, verified by checksum, rebuilt when corrupt."""

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
MAX_NAME_LENGTH = 100


def cache_folder(category: str, name: str, key: str) -> Path:
    """Return the cache folder `category/name-key`; `name` is for people, the content digest `key` is the identity.

    Characters of the name other than letters, digits and `._+-` are replaced by `-`, so that it cannot escape.
    """
    safe = re.sub(r"[^A-Za-z0-9._+-]", "-", name)[:MAX_NAME_LENGTH].lstrip(".")
    if not re.fullmatch("[0-9a-f]{16,64}", key):
        raise ValueError(f"{key[:80]!r} is not a digest")
    return cache_home() / category / f"{safe}-{key[:16]}"


def cached(folder: Path, build: Callable[[], None], read: Callable[[], T]) -> T:
    """Return `read()`, after `build()` where `folder` is absent or corrupt.

    Safe for concurrent processes: one builds, the others wait for its lock. `build` must write the folder atomically,
    `read` must raise `CorruptFileError` for a corrupt one.
    """
    make_folder(folder.parent)
    with FileLock(folder.with_name(f"{folder.name}.lock")):
        if folder.exists():
            try:
                return read()
            except CorruptFileError as error:
                logger.warning("%s; rebuilding it", error)
                shutil.rmtree(folder)
        build()
        return read()


def write_digests(folder: Path) -> None:
    """Write the SHA-256 of every file of a folder to its `digests.json`."""
    write_text(folder / DIGESTS, canonical_json(_digests(folder)))


def verify_digests(folder: Path) -> None:
    """Raise `CorruptFileError` unless the files of a folder match its `digests.json`."""
    try:
        intact = read_json(folder / DIGESTS) == _digests(folder)
    except OSError as error:
        raise CorruptFileError(f"{folder} is not complete: {error.strerror}") from error
    if not intact:
        raise CorruptFileError(f"{folder} was changed after it was written")


def _digests(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / DIGESTS)
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}
