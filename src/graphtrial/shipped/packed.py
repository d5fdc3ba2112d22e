"""The store that came with the package."""

from __future__ import annotations

import hashlib
import lzma
from importlib import resources
from typing import TYPE_CHECKING

from graphtrial.errors import CorruptFileError, GraphTrialError
from graphtrial.files import atomic_path, cache_home
from graphtrial.studies.store import Store

if TYPE_CHECKING:
    from importlib.abc import Traversable

FILE = "store.sqlite.xz"


def packed() -> Traversable:
    """Return the file of the package that holds the results, whether it is there or not."""
    return resources.files("graphtrial.shipped").joinpath(FILE)


def has_shipped_store() -> bool:
    """Tell whether this copy of the package brought results."""
    return packed().is_file()


def shipped_store() -> Store:
    """Open the shipped results; they are unpacked once into the cache, because the package may not be writable."""
    if not has_shipped_store():
        raise GraphTrialError("this copy of graphtrial was installed without results; name a store with --store")
    content = packed().read_bytes()
    path = cache_home() / "shipped" / hashlib.sha256(content).hexdigest()[:16] / "store.sqlite"
    if not path.exists():
        try:
            unpacked = lzma.decompress(content)
        except (lzma.LZMAError, EOFError) as error:
            raise CorruptFileError(f"the shipped results are damaged ({error}); install graphtrial again") from error
        with atomic_path(path) as temporary:
            temporary.write_bytes(unpacked)
    return Store(path)
