"""Named arrays in a folder: one `.npy` file each and one `set.json` with their checksums. Nothing is ever unpickled."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.errors import CorruptFileError, InvalidGraphError
from graphtrial.files import atomic_folder, read_json
from graphtrial.spec import canonical_json, digest

Array = npt.NDArray[Any]
FORMAT = 1
MANIFEST = "set.json"


def save(folder: Path, arrays: Mapping[str, Array], about: Mapping[str, Any]) -> None:
    """Write `arrays` and the JSON-like `about` to `folder`, which appears complete or not at all."""
    manifest = {"format": FORMAT, "arrays": {name: describe(a) for name, a in arrays.items()}, "about": dict(about)}
    with atomic_folder(folder) as temporary:
        for name, array in arrays.items():
            np.save(temporary / f"{name}.npy", np.ascontiguousarray(array), allow_pickle=False)
        text = canonical_json({"digest": digest(manifest), **manifest})
        (temporary / MANIFEST).write_text(text, encoding="utf-8")


def load(folder: Path, *, verify: bool) -> tuple[dict[str, Array], dict[str, Any]]:
    """Memory-map the arrays of `folder`; return them and `about`. Truncated or foreign files are always noticed, flipped
    bytes with `verify`."""
    manifest = read_json(folder / MANIFEST)
    if not isinstance(manifest, dict) or manifest.pop("digest", None) != digest(manifest):
        raise CorruptFileError(f"{folder / MANIFEST} was changed after it was written")
    if manifest["format"] != FORMAT:
        raise CorruptFileError(f"{folder} has format {manifest['format']}; this version reads format {FORMAT}")
    arrays = {}
    for name, (dtype, shape, checksum) in manifest["arrays"].items():
        path = folder / f"{name}.npy"
        try:
            array = _map(path, bool(np.prod(shape)))
        except (OSError, ValueError, EOFError, SyntaxError) as error:
            raise CorruptFileError(f"{path} cannot be read: {error}") from error
        same = array.dtype.str == dtype and list(array.shape) == shape and array.flags.c_contiguous
        if not same or (verify and describe(array)[2] != checksum):
            raise CorruptFileError(f"{path} was changed after it was written")
        arrays[name] = array
    return arrays, manifest["about"]


def describe(array: Array) -> list[Any]:
    """Return dtype, shape and the SHA-256 of the bytes."""
    flat = np.ascontiguousarray(array)
    return [flat.dtype.str, list(array.shape), hashlib.sha256(flat.reshape(-1).view(np.uint8)).hexdigest()]


def narrow(array: Array) -> Array:
    """Return 64-bit whole numbers as 32-bit ones where they fit."""
    return array.astype(np.int32) if not array.size or int(array.max()) < 2**31 else array


def check_name(name: str) -> None:
    """Refuse a column name that is not a plain identifier, because it becomes a file name and an attribute."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name):
        raise InvalidGraphError(f"'{name}' cannot name a column: use lower-case letters, digits and '_'")


def _map(path: Path, has_data: bool) -> Array:
    # An empty array cannot be memory-mapped, and need not be.
    array: Array = np.load(path, mmap_mode="r" if has_data else None, allow_pickle=False)
    return array
