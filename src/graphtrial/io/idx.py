"""Reader of MNIST's IDX format: magic number, dimensions, array data."""

from __future__ import annotations

import gzip
import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError

UNSIGNED_BYTES = 0x08
LIMIT_BYTES = 1 << 28


def read_idx(path: Path) -> npt.NDArray[Any]:
    """Read a gzipped IDX file of unsigned bytes into an array."""
    try:
        with gzip.open(path, "rb") as stream:
            data = stream.read(LIMIT_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise CorruptFileError(f"{path.name} cannot be unpacked: {error}") from error
    if len(data) > LIMIT_BYTES:
        raise CorruptFileError(f"{path.name} unpacks to more than {LIMIT_BYTES} bytes; it is not the published file")
    if len(data) < 4 or data[:3] != bytes([0, 0, UNSIGNED_BYTES]):
        raise CorruptFileError(f"{path.name} is not an IDX file of unsigned bytes")
    start = 4 + 4 * data[3]
    shape = tuple(int.from_bytes(data[place : place + 4], "big") for place in range(4, start, 4))
    if len(data) != start + math.prod(shape):
        raise CorruptFileError(f"{path.name} declares shape {shape}, but has {len(data) - start} bytes of data")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)
