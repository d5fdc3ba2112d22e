"""Dump files as streams of decompressed bytes."""

from __future__ import annotations

import bz2
import codecs
import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from graphtrial.core.errors import CorruptFileError
from graphtrial.core.progress import Advance

BLOCK = 1 << 22


class TruncatedError(CorruptFileError):
    """A compressed file that ends too early or is damaged in the middle."""


def blocks(path: Path, advance: Advance, offsets: Sequence[int] | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield decompressed blocks of a .bz2, .gz or plain file, each with the offset of its bz2 stream.

    A multistream bz2 file is many bz2 streams one after the other, each of which can be read alone: with `offsets`,
    those of some of them, only these are. Other files have one stream, at 0. `advance` is called with the compressed
    bytes.
    """
    if path.suffix == ".bz2":
        yield from _bz2(path, advance, offsets)
        return
    with path.open("rb") as raw:
        stream = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
        done = 0
        while True:
            try:
                block = stream.read(BLOCK)
            except (EOFError, OSError, zlib.error) as error:
                raise _truncated(path, str(error)) from error
            if not block:
                return
            place = raw.tell()
            advance(place - done)
            done = place
            yield 0, block


def utf8(source: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Convert UTF-16 with a byte order mark to UTF-8, and drop the byte order mark of UTF-8; leave others unchanged."""
    first = True
    decoder: codecs.IncrementalDecoder | None = None
    for offset, block in source:
        if first:
            first = False
            if block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                decoder = codecs.getincrementaldecoder("utf-16")("replace")
            block = block.removeprefix(codecs.BOM_UTF8)
        yield offset, decoder.decode(block).encode() if decoder else block


def _bz2(path: Path, advance: Advance, offsets: Sequence[int] | None) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as raw:
        for start in [0] if offsets is None else offsets:
            raw.seek(start)
            packed = b""
            while True:
                unpacker = bz2.BZ2Decompressor()
                try:
                    while not unpacker.eof:
                        if not packed and unpacker.needs_input:
                            packed = raw.read(_packed())
                            advance(len(packed))
                            if not packed:
                                raise _truncated(path, "it ends within a bz2 stream")
                        block = unpacker.decompress(packed, BLOCK)
                        packed = b""
                        if block:
                            yield start, block
                except OSError as error:
                    raise _truncated(path, str(error)) from error
                if offsets is not None:
                    break
                packed = unpacker.unused_data or raw.read(_packed())
                if not packed:
                    return
                start = raw.tell() - len(packed)


def _packed() -> int:
    return max(1, BLOCK // 8)


def _truncated(path: Path, why: str) -> TruncatedError:
    return TruncatedError(
        f"{path.name} is damaged or was not downloaded completely ({why}); download it again, or take what can be read "
        "of it with --allow-truncated"
    )
