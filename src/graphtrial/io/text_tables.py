"""Tables of numbers in text files: quick where they are sound, precise about the line where they are not."""

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
"""Fills up the rows of a table whose lines have different lengths."""

_ENDS = re.compile(rb"[ \t,;]+(?=\n|\Z)")


def read_whole_numbers(path: Path, *, ragged: bool = False) -> npt.NDArray[np.int64]:
    """Read a table [rows, columns] of integers; lines of different lengths are padded if `ragged`."""
    data = _cleaned(path)
    try:
        return _read(data, np.int64)
    except (ValueError, OverflowError):
        pass
    try:
        return _whole(_read(data, np.float64))  # some files write 3 as 3.0
    except (ValueError, OverflowError):
        pass
    rows = [row for _, row in _rows(path, data, int)]
    lengths = {len(row) for row in rows}
    if not ragged and len(lengths) > 1:
        raise _uneven(path, data)
    return np.array([row + [PADDING] * (max(lengths) - len(row)) for row in rows], np.int64)


def read_numbers(path: Path) -> npt.NDArray[np.float32]:
    """Read a table [rows, columns] of numbers, all of them finite."""
    data = _cleaned(path)
    try:
        with np.errstate(over="ignore"):
            values = _read(data, np.float64).astype(np.float32)
    except (ValueError, OverflowError):
        for _ in _rows(path, data, float):
            pass
        raise _uneven(path, data) from None
    if not np.isfinite(values).all():
        row = int(np.argmax(~np.isfinite(values).all(axis=1)))
        raise damage(path, row, "a number is not finite")
    return values


def damage(path: Path, row: int, what: str) -> CorruptFileError:
    """Return the error that names the line of a table's row; blank lines are no rows, but count as lines."""
    lines = _cleaned(path).split(b"\n")
    numbers = [number for number, line in enumerate(lines, 1) if line.strip()]
    return CorruptFileError(f"{path.name} line {numbers[row]}: {what}")


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """Return the text of a file, unpacked where its name ends in gz; bytes that are no text are damage."""
    data = gunzip(path) if path.suffix == ".gz" else path.read_bytes()
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise CorruptFileError(f"{path.name} is no text in {encoding}: {error}") from error


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a csv file with a heading, by the names of the columns."""
    try:
        yield from csv.DictReader(io.StringIO(read_text(path), newline=""))
    except csv.Error as error:
        raise CorruptFileError(f"{path.name} is no table of comma-separated values: {error}") from error


def gunzip(path: Path, limit_bytes: int = 2 << 30) -> bytes:
    """Return what a gzip file holds, which may not be more than `limit_bytes`."""
    try:
        with gzip.open(path) as stream:
            data = stream.read(limit_bytes + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise CorruptFileError(f"{path.name} cannot be unpacked: {error}; fetch it again") from error
    if len(data) > limit_bytes:
        raise CorruptFileError(f"{path.name} unpacks to more than {limit_bytes} bytes; it is not the published file")
    return data


def _cleaned(path: Path) -> bytes:
    """Return the bytes with plain line ends and without separators before them."""
    data = (gunzip(path) if path.suffix == ".gz" else path.read_bytes()).removeprefix(b"\xef\xbb\xbf")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if any(end in data for end in (b",\n", b" \n", b"\t\n", b";\n")) or data[-1:] in (b",", b" ", b"\t", b";"):
        data = _ENDS.sub(b"", data)
    if not data.strip():
        raise CorruptFileError(f"{path.name} is empty")
    return data


def _read(data: bytes, dtype: Any) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.loadtxt(io.BytesIO(data), dtype=dtype, delimiter=_separator(data), comments=None, ndmin=2)
        except (Warning, UnicodeError) as problem:  # NumPy would read half a table, or text in another encoding
            raise ValueError(str(problem)) from None


def _separator(data: bytes) -> str | None:
    first = data.lstrip().split(b"\n", 1)[0]
    return "," if b"," in first else ";" if b";" in first else None


def _whole(values: Array) -> npt.NDArray[np.int64]:
    if not (np.abs(values) < 2.0**53).all() or (values != np.floor(values)).any():
        raise ValueError("not whole")
    return values.astype(np.int64)


def _rows(path: Path, data: bytes, kind: Callable[[str], Any]) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows one by one with their lines, the slow way, and raise the error of the first that is wrong."""
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


def _uneven(path: Path, data: bytes) -> CorruptFileError:
    width = 0
    for number, row in _rows(path, data, float):
        width = width or len(row)
        if len(row) != width:
            return CorruptFileError(f"{path.name} line {number}: {len(row)} numbers, but {width} in the lines before")
    return CorruptFileError(f"{path.name} is no table of numbers")
