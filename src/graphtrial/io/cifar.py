"""Readers of CIFAR-10: binary and Python versions, both as tar.gz archives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError
from graphtrial.core.temporary import temporary_folder
from graphtrial.io.archive import unpack
from graphtrial.io.pickles.reader import load

Array = npt.NDArray[Any]
Images = tuple[Array, Array]
"""Images [n, 32, 32, 3] of uint8, and their classes [n]."""

SIDE, CHANNELS, CLASSES = 32, 3, 10
PIXELS = SIDE * SIDE * CHANNELS
TRAIN_BATCHES = 5
MEMBER_BYTES = 1 << 26


def read_cifar_binary(archive: Path) -> tuple[Images, Images]:
    """Read train and test images of cifar-10-binary.tar.gz; a record is a class byte and three colour planes."""
    return _read(archive, "cifar-10-batches-bin", ".bin", _binary_batch)


def read_cifar_python(archive: Path) -> tuple[Images, Images]:
    """Read train and test images of cifar-10-python.tar.gz with the restricted pickle reader."""
    return _read(archive, "cifar-10-batches-py", "", _python_batch)


def _read(archive: Path, folder: str, ending: str, read: Callable[[Path], Images]) -> tuple[Images, Images]:
    names = [*(f"data_batch_{number}" for number in range(1, TRAIN_BATCHES + 1)), "test_batch"]
    members = [f"{folder}/{name}{ending}" for name in names]
    with temporary_folder() as temporary:
        unpacked = temporary / "cifar"
        unpack(archive, members, unpacked, member_bytes=MEMBER_BYTES, total_bytes=len(members) * MEMBER_BYTES)
        batches = [read(unpacked / member) for member in members]
    images, classes = ([batch[i] for batch in batches[:-1]] for i in (0, 1))
    return (np.concatenate(images), np.concatenate(classes)), batches[-1]


def _binary_batch(path: Path) -> Images:
    data = np.frombuffer(path.read_bytes(), np.uint8)
    if not len(data) or len(data) % (1 + PIXELS):
        raise CorruptFileError(f"{path.name} has {len(data)} bytes, not a multiple of the size of a CIFAR-10 record")
    records = data.reshape(-1, 1 + PIXELS)
    return _images(path, records[:, 1:], records[:, 0])


def _python_batch(path: Path) -> Images:
    batch = load(path)
    try:
        pixels, classes = batch["data"], np.array(batch["labels"], np.int64)
        if pixels.dtype != np.uint8 or pixels.shape != (len(classes), PIXELS):
            raise ValueError(f"pixels of shape {pixels.shape}")
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise CorruptFileError(f"{path.name} is not a batch of CIFAR-10 images ({error!r})") from error
    return _images(path, pixels, classes)


def _images(path: Path, pixels: Array, classes: Array) -> Images:
    if classes.size and (classes.min() < 0 or classes.max() >= CLASSES):
        raise CorruptFileError(f"{path.name} has an image of class {classes.max()}; CIFAR-10 has {CLASSES} classes")
    planes = pixels.reshape(-1, CHANNELS, SIDE, SIDE)
    return np.ascontiguousarray(planes.transpose(0, 2, 3, 1)), classes.astype(np.uint8)
