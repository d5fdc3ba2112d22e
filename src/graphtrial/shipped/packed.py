"""The shipped store: unpacking and verification."""

from __future__ import annotations

import hashlib
import lzma
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.core.files import atomic_folder, cache_home, sha256_of
from graphtrial.trials.store import Store

if TYPE_CHECKING:
    from importlib.abc import Traversable

FILE = "store.sqlite.xz"
UNPACKED = "store.sqlite"
DIGEST = "store.sha256"


def packed() -> Traversable:
    """Return the compressed store of the package, which may be missing."""
    return resources.files("graphtrial.shipped").joinpath(FILE)


def has_shipped_store() -> bool:
    """Whether the package was installed with results."""
    return packed().is_file()


def shipped_store() -> Store:
    """Open the shipped results for reading.

    They are unpacked into the cache, since the package may be read-only, with their SHA-256, which is verified each
    time (20 ms for 15 MB). A changed copy is unpacked again.
    """
    if not has_shipped_store():
        raise GraphTrialError("this copy of graphtrial was installed without results; name a store with --store")
    content = packed().read_bytes()
    folder = cache_home() / "shipped" / hashlib.sha256(content).hexdigest()[:16]
    if not _is_intact(folder):
        _unpack(content, folder)
    return Store(folder / UNPACKED, read_only=True)


def _is_intact(folder: Path) -> bool:
    try:
        return sha256_of(folder / UNPACKED) == (folder / DIGEST).read_text(encoding="ascii")
    except (OSError, ValueError):
        return False


def _unpack(content: bytes, folder: Path) -> None:
    try:
        unpacked = lzma.decompress(content)
    except (lzma.LZMAError, EOFError) as error:
        raise CorruptFileError(f"the shipped results are damaged ({error}); install graphtrial again") from error
    try:
        with atomic_folder(folder) as temporary:
            (temporary / UNPACKED).write_bytes(unpacked)
            (temporary / DIGEST).write_text(hashlib.sha256(unpacked).hexdigest(), encoding="ascii")
    except OSError as error:
        raise GraphTrialError(f"the shipped results cannot be unpacked to {folder}: {error.strerror}") from error
