"""Arrays in a folder: one `.npy` file each and a manifest `set.json` with checksums. Nothing is ever unpickled."""

from __future__ import annotations

import hashlib
import json
import re
import tokenize
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError, InvalidGraphError
from graphtrial.core.files import atomic_folder, sha256_of_stream
from graphtrial.core.spec import canonical_json, digest

Array = npt.NDArray[Any]
FORMAT = 1
MANIFEST = "set.json"
RESERVED = frozenset(
    {
        *(
            "batch",
            "columns",
            "device",
            "edge_index",
            "host_ptr",
            "from_set",
            "in_degree",
            "in_ptr",
            "num_edges",
            "num_graphs",
            "num_nodes",
        ),
        *("select_targets", "out_degree", "out_order", "out_ptr", "ptr", "cached", "to", "with_column", "with_columns"),
    }
)
"""Attributes of every batch, which column names must not shadow."""

# Exceptions that NumPy raises for a corrupt header, which it parses as Python text.
UNREADABLE = (
    *(OSError, ValueError, EOFError, SyntaxError, TypeError, KeyError),
    *(OverflowError, MemoryError, RecursionError, tokenize.TokenError),
)


def save(folder: Path, arrays: Mapping[str, Array], about: Mapping[str, Any]) -> None:
    """Write `arrays` and the JSON metadata `about` to `folder` atomically."""
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise InvalidGraphError(f"'{name}' has dtype {array.dtype}; only plain numbers can be saved")
    manifest = {"format": FORMAT, "arrays": {name: describe(a) for name, a in arrays.items()}, "about": dict(about)}
    with atomic_folder(folder) as temporary:
        for name, array in arrays.items():
            np.save(temporary / f"{name}.npy", np.ascontiguousarray(array), allow_pickle=False)
        text = canonical_json({"digest": digest(manifest), **manifest})
        (temporary / MANIFEST).write_text(text, encoding="utf-8")


def load(folder: Path) -> tuple[dict[str, Array], dict[str, Any]]:
    """Memory-map the arrays of `folder`; return them and the metadata `about`.

    Raises `CorruptFileError` for missing, unexpected, truncated or altered files. Checksums are computed from the file
    stream (1.8 GB per second), not through the map, so that no memory is taken.
    """
    manifest = _manifest(folder / MANIFEST)
    if manifest["format"] != FORMAT:
        raise CorruptFileError(f"{folder} has format {manifest['format']}; this version reads format {FORMAT}")
    arrays = {}
    for name, (dtype, shape, checksum) in manifest["arrays"].items():
        path = folder / f"{name}.npy"
        try:
            array = _map(path, bool(np.prod(shape)))
        except UNREADABLE as error:
            raise CorruptFileError(f"{path} cannot be read: {error}") from error
        same = array.dtype.str == dtype and list(array.shape) == shape and array.flags.c_contiguous
        if not same or _checksum(path, array.nbytes) != checksum:
            raise CorruptFileError(f"{path} was changed after it was written")
        arrays[name] = array
    return arrays, manifest["about"]


def describe(array: Array) -> list[Any]:
    """Return dtype, shape and the SHA-256 of the bytes."""
    flat = np.ascontiguousarray(array)
    return [flat.dtype.str, list(array.shape), hashlib.sha256(flat.reshape(-1).view(np.uint8).data).hexdigest()]


def narrow(array: Array) -> Array:
    """Cast int64 to int32 where all values fit."""
    return array.astype(np.int32) if not array.size or int(array.max()) < 2**31 else array


def check_name(name: str) -> None:
    """Validate a column name: it becomes a file name and an attribute of batches."""
    if name in RESERVED:
        raise InvalidGraphError(f"'{name}' cannot name a column: every batch has that attribute already")
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name):
        raise InvalidGraphError(f"'{name}' cannot name a column: use lower-case letters, digits and '_'")


def _manifest(path: Path) -> dict[str, Any]:
    try:
        written = path.read_bytes()
        manifest: dict[str, Any] = json.loads(written)
        stated = manifest.pop("digest", None) if isinstance(manifest, dict) else None
        intact = stated is not None and written == canonical_json({"digest": digest(manifest), **manifest}).encode()
    except OSError as error:
        raise CorruptFileError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError):
        intact = False
    if not intact:
        raise CorruptFileError(f"{path} was changed after it was written")
    return manifest


def _checksum(path: Path, size: int) -> str:
    """Return the SHA-256 of the last `size` bytes of a file: the data of an `.npy` file."""
    with path.open("rb") as stream:
        stream.seek(-size, 2)
        return sha256_of_stream(stream)


def _map(path: Path, has_data: bool) -> Array:
    if not has_data:  # an empty array cannot be memory-mapped, and need not be
        empty: Array = np.load(path, allow_pickle=False)
        return empty
    array: np.memmap[Any, Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.offset + array.nbytes != path.stat().st_size:
        raise ValueError("its length does not fit its header")
    return array
