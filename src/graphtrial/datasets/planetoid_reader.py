"""Readers of the citation graphs: planetoid pickles (Yang et al. 2016) and npz files (Shchur et al. 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from graphtrial.core.errors import CorruptFileError
from graphtrial.core.temporary import temporary_folder
from graphtrial.graphs.storage import UNREADABLE
from graphtrial.io.archive import unpack
from graphtrial.io.pickles.reader import load
from graphtrial.io.pickles.records import Record
from graphtrial.io.sources import GIBIBYTE

Array = npt.NDArray[Any]
CSR = ("data", "indices", "indptr", "shape")
MATRICES = tuple(f"{name}_{part}" for name in ("adj", "attr") for part in CSR)


def read_planetoid(raw: Mapping[str, Path]) -> tuple[Array, Array, Array]:
    """Return features [papers, words], classes [papers] and citations [2, citations] of the planetoid files.

    `allx` holds the first papers, `tx` the test papers in the order of `test.index`. Papers missing from the index have
    neither features nor class: both are set to 0, and they are in no split.
    """
    try:
        first, test = to_dense(load(raw["allx"])), to_dense(load(raw["tx"]))
        first_classes, test_classes = to_dense(load(raw["ally"])), to_dense(load(raw["ty"]))
        index = read_test_index(raw["test.index"])
        nodes = max(len(first), int(index.max()) + 1)
        _check_size(nodes, first.shape[1])
        x = np.zeros((nodes, first.shape[1]), np.float32)
        one_hot = np.zeros((nodes, first_classes.shape[1]), np.int64)
        x[: len(first)], one_hot[: len(first)] = first, first_classes
        x[index], one_hot[index] = test, test_classes
        neighbours = load(raw["graph"])
        ends = np.array([(paper, int(other)) for paper, others in neighbours.items() for other in others], np.int64).T
    except (ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
        raise CorruptFileError(f"the planetoid files do not belong together ({error})") from error
    if ends.shape[0] != 2 or ends.min() < 0 or ends.max() >= nodes:
        raise CorruptFileError(f"the citations name a paper outside 0 to {nodes - 1}")
    return x, one_hot.argmax(axis=1), ends


def read_npz(path: Path) -> tuple[Array, Array, Array]:
    """Return features, classes and citations of an npz file; pickled members are not read."""
    members = [f"{name}.npy" for name in (*MATRICES, "labels")]
    with temporary_folder() as temporary:
        folder = Path(temporary) / "npz"
        unpack(path, members, folder, member_bytes=GIBIBYTE, total_bytes=GIBIBYTE)
        try:
            arrays = {name: np.load(folder / name, allow_pickle=False) for name in members}
            adjacency, words = (_csr({k: arrays[f"{name}_{k}.npy"] for k in CSR}) for name in ("adj", "attr"))
        except (*UNREADABLE, IndexError) as error:
            raise CorruptFileError(f"{path.name} holds no citation graph ({error})") from error
    x = (words.toarray() > 0).astype(np.float32)
    return x, arrays["labels.npy"].astype(np.int64), np.stack(adjacency.tocoo().coords)


def to_dense(value: Any) -> Array:
    """Return the dense array of a planetoid file, which holds an array or a sparse matrix."""
    if isinstance(value, Record):
        parts = value.attributes
        shape = parts.get("_shape", parts.get("shape"))
        return np.asarray(_csr({**{k: parts[k] for k in CSR[:3]}, "shape": shape}).toarray())
    if not isinstance(value, np.ndarray) or value.ndim != 2:
        raise CorruptFileError(f"a planetoid file holds a {type(value).__name__} where a matrix was expected")
    return value


def _csr(parts: Mapping[str, Any]) -> scipy.sparse.csr_array:
    """Build a CSR matrix and validate its indices."""
    rows, columns = (int(size) for size in parts["shape"])
    _check_size(rows, columns)
    matrix = scipy.sparse.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=(rows, columns))
    matrix.check_format(full_check=True)
    return matrix


def _check_size(rows: int, columns: int) -> None:
    """Raise ValueError for implausible shapes before memory is allocated."""
    if rows < 0 or columns < 0 or rows * columns > 10**9:
        raise ValueError(f"a matrix of {rows} x {columns}")


def read_test_index(path: Path) -> npt.NDArray[np.int64]:
    """Read the indices of the test papers."""
    try:
        index = np.array(path.read_text(encoding="ascii").split(), np.int64)
    except (ValueError, OverflowError) as error:
        raise CorruptFileError(f"{path.name} is not a list of papers ({error})") from error
    if not len(index) or index.min() < 0 or index.max() > 10**7:
        raise CorruptFileError(f"{path.name} is not a list of papers")
    return index
