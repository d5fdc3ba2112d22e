"""Rebuild pickled NumPy arrays and torch tensors without calling either library's loader."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError
from graphtrial.io.pickles.records import RefusedPickleError

Array = npt.NDArray[Any]
STORAGES = {
    "BoolStorage": "|b1",
    "ByteStorage": "|u1",
    "CharStorage": "|i1",
    "ShortStorage": "<i2",
    "IntStorage": "<i4",
    "LongStorage": "<i8",
    "HalfStorage": "<f2",
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
}


class PickledDtype:
    """Pickled NumPy dtype; its byte order is set by `build`."""

    __slots__ = ("dtype",)

    def __init__(self, code: Any, *_: Any) -> None:
        if not isinstance(code, str) or not re.fullmatch(r"[biufc]\d{1,2}|[SU]\d{1,6}", code):
            raise RefusedPickleError(
                f"the pickle asks for arrays of dtype {reprlib.repr(code)}; only numbers and text are read"
            )
        self.dtype = np.dtype(code)

    def build(self, state: Sequence[Any]) -> None:
        """Set the byte order from the pickled state."""
        order = state[1]
        if order not in ("<", ">", "=", "|") or any(part is not None for part in state[2:5]):
            raise RefusedPickleError("the pickle asks for arrays of a structured dtype; only numbers and text are read")
        self.dtype = self.dtype.newbyteorder(order)


class PickledArray:
    """Pickled NumPy array before BUILD; `memo_indices` are the memo entries to replace by the array."""

    __slots__ = ("memo_indices",)

    def __init__(self, *_: Any) -> None:
        self.memo_indices: list[int] = []

    def build(self, state: Sequence[Any]) -> Array:
        """Return the array of the pickled state."""
        _, shape, dtype, fortran, data = state
        return array_of(data, dtype, shape, "F" if fortran is True or fortran == 1 else "C")


class Storage:
    """Storage of torch tensors; its data may be read after the tensors that are views of it."""

    __slots__ = ("_values", "count", "dtype")

    def __init__(self, dtype: str, count: int) -> None:
        self.dtype = np.dtype(dtype)
        self.count = count
        self._values: Array | None = None

    @property
    def size(self) -> int:
        """Size in bytes."""
        return self.count * self.dtype.itemsize

    @property
    def values(self) -> Array:
        """Elements; zero until `fill`."""
        if self._values is None:
            self._values = np.zeros(self.count, self.dtype)
        return self._values

    def fill(self, data: bytes) -> None:
        """Set the elements from raw bytes."""
        numbers = np.frombuffer(data, self.dtype)
        if self._values is None:
            self._values = numbers
        else:
            self._values[:] = numbers


def array_of(data: Any, dtype: Any, shape: Any, order: Any = "C") -> Array:
    """Return an array of this shape and dtype over `data`, whose length must match exactly."""
    if isinstance(data, str):
        data = data.encode("latin-1")  # Python 2 pickled bytes as str
    if not isinstance(dtype, PickledDtype) or not isinstance(data, (bytes, bytearray)) or order not in ("C", "F"):
        raise RefusedPickleError("the pickle asks for an array of Python objects; only numbers and text are read")
    if math.prod(sizes_of(shape)) * dtype.dtype.itemsize != len(data):
        raise CorruptFileError(f"the pickle has an array of shape {reprlib.repr(shape)} with {len(data)} bytes")
    array: Array = np.frombuffer(data, dtype.dtype).reshape(shape, order=order)
    return array


def tensor_of(storage: Any, offset: Any, size: Any, stride: Any, *_: Any) -> Array:
    """Return a torch tensor as a strided NumPy view of its storage."""
    if not isinstance(storage, Storage):
        raise RefusedPickleError("the pickle asks for a tensor without a storage")
    sizes, strides = sizes_of(size), sizes_of(stride)
    count = math.prod(sizes)
    (start,) = sizes_of((offset,))
    last = start + sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
    if count and (count > storage.count or last >= storage.count):
        raise CorruptFileError(f"the pickle has a tensor of shape {reprlib.repr(sizes)} on {storage.count} numbers")
    if not count:
        return np.empty(sizes, storage.dtype)
    contiguous = tuple(math.prod(sizes[axis + 1 :]) for axis in range(len(sizes)))
    if strides == contiguous:
        return storage.values[start : start + count].reshape(sizes)
    byte_strides = [step * storage.dtype.itemsize for step in strides]
    return np.lib.stride_tricks.as_strided(storage.values[start:], sizes, byte_strides)


def sizes_of(values: Any) -> tuple[int, ...]:
    """Validate a shape and return it as a tuple of integers."""
    short = isinstance(values, (tuple, list)) and len(values) <= 32
    if not short or not all(type(value) is int and 0 <= value < 2**48 for value in values):
        raise CorruptFileError(f"the pickle has an array of shape {reprlib.repr(values)}")
    return tuple(values)
