"""Restricted unpickler for data files, including torch's.

`pickle.load` calls whatever global a file names. This is a small stack machine of our own: a global is looked up in an
allow-list of safe constructors, classes in `records` become inert `Record`s, anything else raises
`RefusedPickleError`. Nothing is imported or called on behalf of the file; lengths are checked against its size.
"""

from __future__ import annotations

import io
import mmap
import zipfile
from collections import deque
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from graphtrial.core.errors import CorruptFileError
from graphtrial.io.archive import is_zip
from graphtrial.io.pickles.arrays import STORAGES, Storage
from graphtrial.io.pickles.builders import find_builtin
from graphtrial.io.pickles.machine import MALFORMED, Machine
from graphtrial.io.pickles.records import Builder, ForeignClass, RefusedPickleError, Token

TORCH_MAGIC = 0x1950A86A20F9469CFC6C
# Each tensor inside a pickle is a nested torch file with the same header bytes; parse a header only once.
_HEADERS: deque[bytes] = deque(maxlen=4)


def load(path: Path, records: Collection[str] = ()) -> Any:
    """Read a pickle file; instances of the classes in `records` ("package.module.Class") become `Record`s.

    NumPy arrays and torch tensors become NumPy arrays, SciPy sparse matrices records of their arrays. Any other global
    raises `RefusedPickleError`.
    """
    return _with_bytes(path, lambda data: loads(data, records))


def loads(data: bytes | mmap.mmap, records: Collection[str] = ()) -> Any:
    """Read a pickle from bytes, as `load` does."""
    return Machine(data, 0, lambda module, name: _find(module, name, records)).run()


def load_torch(path: Path) -> Any:
    """Read a file of `torch.save`, legacy (before 1.6) or zip format; tensors become NumPy arrays."""
    return _with_bytes(path, _loads_torch_zip if is_zip(path) else _loads_torch)


def _find(module: str, name: str, records: Collection[str], nested: bool = False) -> Any:
    if f"{module}.{name}" in records:
        return ForeignClass(f"{module}.{name}")
    if (module, name) == ("torch.storage", "_load_from_bytes") and not nested:
        return Builder("torch.storage._load_from_bytes", _loads_torch)
    builder = find_builtin(module, name)
    if builder is None:
        raise RefusedPickleError(f"the pickle asks for {module}.{name}, which is not plain data; nothing was run")
    return builder


def _loads_torch(data: bytes | mmap.mmap) -> Any:
    # Legacy format: header (magic, version, system) as three pickles, the object, the storage keys, the storages.
    storages: dict[str, Storage] = {}
    total_bytes = 0

    def storage_of(reference: Any) -> Storage:
        nonlocal total_bytes
        kind, token, key, _, count, *view = reference
        plain = type(kind) is type(key) is str and type(count) is int and type(token) is Token
        if not plain or kind != "storage" or any(part is not None for part in view):
            raise RefusedPickleError("the torch file refers to something else than a plain storage")
        if key not in storages:
            storages[key] = Storage(STORAGES[token.name], count)
            total_bytes += storages[key].size
            if count < 0 or total_bytes > len(data):
                raise CorruptFileError(f"the torch file has a storage of {count} numbers in {len(data)} bytes")
        return storages[key]

    def read(position: int) -> tuple[Any, int]:
        machine = Machine(data, position, lambda module, name: _find(module, name, (), nested=True), storage_of)
        return machine.run(), machine.position

    position = next((len(header) for header in _HEADERS if data[: len(header)] == header), 0)
    if not position:
        magic, position = read(0)
        version, position = read(position)
        system, position = read(position)
        if magic != TORCH_MAGIC or version != 1001 or not system["little_endian"]:
            raise CorruptFileError("not a torch file of the old format, or one from a big-endian machine")
        _HEADERS.append(bytes(data[:position]))
    built, position = read(position)
    keys, position = read(position)
    for key in keys:
        storage = storages[key]
        start = position + 8
        content = data[start : start + storage.size]
        if int.from_bytes(data[position:start], "little") != storage.count or len(content) != storage.size:
            raise CorruptFileError("the torch file is cut off")
        storage.fill(content)
        position = start + storage.size
    return built


def _loads_torch_zip(data: bytes | mmap.mmap) -> Any:
    # Zip format: an uncompressed archive of one pickle and one file per storage.
    with zipfile.ZipFile(io.BytesIO(data[:])) as archive:
        members = {info.filename: info for info in archive.infolist()}
        pickles = [name for name in members if name.endswith("/data.pkl")]
        if len(pickles) != 1 or len(members) < len(archive.infolist()):
            raise CorruptFileError("it is not a torch file, or has a duplicate member")
        prefix = pickles[0].removesuffix("data.pkl")

        def content(name: str) -> bytes:
            info = members.get(name)
            if info is None or info.compress_type != zipfile.ZIP_STORED or info.file_size > len(data):
                raise CorruptFileError(f"the torch file lacks {name}, or has it packed")
            return archive.read(info)

        if f"{prefix}byteorder" in members and content(f"{prefix}byteorder") != b"little":
            raise CorruptFileError("the torch file is from a big-endian machine")
        storages: dict[str, Storage] = {}

        def storage_of(reference: Any) -> Storage:
            kind, token, key, _, count = reference
            plain = type(kind) is type(key) is str and type(count) is int and type(token) is Token
            if not plain or kind != "storage":
                raise RefusedPickleError("the torch file refers to something else than a plain storage")
            if key not in storages:
                storage, raw = Storage(STORAGES[token.name], count), content(f"{prefix}data/{key}")
                if count < 0 or storage.size != len(raw):
                    raise CorruptFileError(f"the torch file has a storage of {count} numbers in {len(raw)} bytes")
                storage.fill(raw)
                storages[key] = storage
            return storages[key]

        pickled = content(pickles[0])
        return Machine(pickled, 0, lambda module, name: _find(module, name, (), nested=True), storage_of).run()


def _with_bytes(path: Path, read: Callable[[bytes | mmap.mmap], Any]) -> Any:
    try:
        with path.open("rb") as stream:
            if not path.stat().st_size:
                raise CorruptFileError("the file is empty")
            with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return read(data)
    except RefusedPickleError as error:
        raise RefusedPickleError(f"{path.name} was not read: {error}") from error
    except (CorruptFileError, zipfile.BadZipFile, NotImplementedError, RuntimeError, *MALFORMED) as error:
        raise CorruptFileError(f"{path.name} cannot be read: {error}") from error
