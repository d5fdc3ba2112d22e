"""Readers of numeric text tables: NumPy's fast path, and a slow one that reports the line of an error."""

from __future__ import annotations

import csv
import gzip
import io
import re
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError

Array = npt.NDArray[Any]
PADDING = -(2**63)
"""Padding value of ragged rows."""

_TRAILING_SEPARATORS = re.compile(rb"[ \t,;]+(?=\n|\Z)")


def read_integers(path: Path, *, ragged: bool = False) -> npt.NDArray[np.int64]:
    """Read integers [rows, columns]; `ragged` rows are padded with `PADDING`."""
    data = _read_normalized(path)
    try:
        return _read(data, np.int64)
    except (ValueError, OverflowError):
        pass
    try:
        return _to_integers(_read(data, np.float64))  # some files write 3 as 3.0
    except (ValueError, OverflowError):
        pass
    rows = [row for _, row in _rows(path, data, int)]
    lengths = {len(row) for row in rows}
    if not ragged and len(lengths) > 1:
        raise _ragged_error(path, data)
    return np.array([row + [PADDING] * (max(lengths) - len(row)) for row in rows], np.int64)


def read_numbers(path: Path) -> npt.NDArray[np.float32]:
    """Read finite floats [rows, columns]."""
    data = _read_normalized(path)
    try:
        with np.errstate(over="ignore"):
            values = _read(data, np.float64).astype(np.float32)
    except (ValueError, OverflowError):
        for _ in _rows(path, data, float):
            pass
        raise _ragged_error(path, data) from None
    if not np.isfinite(values).all():
        row = int(np.argmax(~np.isfinite(values).all(axis=1)))
        raise line_error(path, row, "a number is not finite")
    return values


def line_error(path: Path, row: int, subject: str) -> CorruptFileError:
    """Return a `CorruptFileError` with the line number of a row; blank lines are not rows, but count as lines."""
    lines = _read_normalized(path).split(b"\n")
    numbers = [number for number, line in enumerate(lines, 1) if line.strip()]
    return CorruptFileError(f"{path.name} line {numbers[row]}: {subject}")


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """Read a text file, decompressed if its name ends in gz; raise `CorruptFileError` for invalid encoding."""
    data = gunzip(path) if path.suffix == ".gz" else path.read_bytes()
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise CorruptFileError(f"{path.name} is not text in {encoding}: {error}") from error


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a CSV file with a header as dictionaries."""
    try:
        yield from csv.DictReader(io.StringIO(read_text(path), newline=""))
    except csv.Error as error:
        raise CorruptFileError(f"{path.name} is not a CSV file: {error}") from error


def gunzip(path: Path, limit_bytes: int = 2 << 30) -> bytes:
    """Decompress a gzip file of at most `limit_bytes`."""
    try:
        with gzip.open(path) as stream:
            data = stream.read(limit_bytes + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise CorruptFileError(f"{path.name} cannot be unpacked: {error}; fetch it again") from error
    if len(data) > limit_bytes:
        raise CorruptFileError(f"{path.name} unpacks to more than {limit_bytes} bytes; it is not the published file")
    return data


def _read_normalized(path: Path) -> bytes:
    """Read a file, normalize line ends and strip trailing separators and the byte order mark."""
    data = (gunzip(path) if path.suffix == ".gz" else path.read_bytes()).removeprefix(b"\xef\xbb\xbf")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if any(end in data for end in (b",\n", b" \n", b"\t\n", b";\n")) or data[-1:] in (b",", b" ", b"\t", b";"):
        data = _TRAILING_SEPARATORS.sub(b"", data)
    if not data.strip():
        raise CorruptFileError(f"{path.name} is empty")
    return data


def _read(data: bytes, dtype: Any) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.loadtxt(io.BytesIO(data), dtype=dtype, delimiter=_separator(data), comments=None, ndmin=2)
        except (Warning, UnicodeError) as problem:  # NumPy would return a part of the table, or decode another encoding
            raise ValueError(str(problem)) from None


def _separator(data: bytes) -> str | None:
    first = data.lstrip().split(b"\n", 1)[0]
    return "," if b"," in first else ";" if b";" in first else None


def _to_integers(values: Array) -> npt.NDArray[np.int64]:
    if not (np.abs(values) < 2.0**53).all() or (values != np.floor(values)).any():
        raise ValueError("not integral")
    return values.astype(np.int64)


def _rows(path: Path, data: bytes, kind: Callable[[str], Any]) -> Iterator[tuple[int, list[Any]]]:
    """Parse line by line, yielding line numbers and rows; raise `CorruptFileError` at the first invalid value."""
    name = {int: "an integer", float: "a number"}[kind]  # type: ignore[index]
    separator = _separator(data)
    for number, line in enumerate(data.split(b"\n"), 1):
        words = [word.strip() for word in line.decode("utf-8", "replace").split(separator)]
        if not line.strip():
            continue
        row = []
        for word in words:
            try:
                value = kind(word)
            except ValueError:
                raise CorruptFileError(f"{path.name} line {number}: {word[:40]!r} is not {name}") from None
            if kind is int and not -(2**63) <= value < 2**63:
                raise CorruptFileError(f"{path.name} line {number}: {word[:40]} is too large")
            row.append(value)
        yield number, row


def _ragged_error(path: Path, data: bytes) -> CorruptFileError:
    width = 0
    for number, row in _rows(path, data, float):
        width = width or len(row)
        if len(row) != width:
            return CorruptFileError(f"{path.name} line {number}: {len(row)} numbers, but {width} in the lines before")
    return CorruptFileError(f"{path.name} is not a table of numbers")
