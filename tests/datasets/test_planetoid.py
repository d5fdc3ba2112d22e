"""Citation graphs against PyG; code in their pickles is refused."""

from __future__ import annotations

import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from graphtrial.core.errors import CorruptFileError
from graphtrial.datasets import load
from graphtrial.datasets.planetoid import Cora, random_split
from graphtrial.datasets.planetoid_files import PARTS
from graphtrial.datasets.planetoid_reader import read_npz, read_planetoid


@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_original_files_match_pyg(name: str, mirror: Path) -> None:
    io = pytest.importorskip("torch_geometric.io")
    theirs = io.read_planetoid_data(str(mirror / "planetoid"), name)
    dataset = load(name)
    assert dataset.provenance["source"] == "planetoid"
    graphs = dataset.graphs
    np.testing.assert_array_equal(graphs.column("x").values, theirs.x)
    np.testing.assert_array_equal(graphs.column("y").values, theirs.y)
    np.testing.assert_array_equal(graphs.edge_index, theirs.edge_index)
    (split,) = dataset.splits
    for part, ids in split.parts.items():
        np.testing.assert_array_equal(ids, np.flatnonzero(theirs[f"{part}_mask"]))


@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_plain_arrays_are_used_without_original_files(
    name: str, mirror: Path, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    io = pytest.importorskip("torch_geometric.io")
    (tmp_path / "mirror" / "npz").mkdir(parents=True)
    shutil.copy(mirror / "npz" / f"{name}.npz", tmp_path / "mirror" / "npz")
    monkeypatch.setenv("GRAPHTRIAL_MIRROR", str(tmp_path / "mirror"))
    dataset = load(name)
    theirs = io.read_npz(str(mirror / "npz" / f"{name}.npz"))
    assert dataset.provenance["source"] == "npz"
    np.testing.assert_array_equal(dataset.graphs.column("x").values, theirs.x)
    np.testing.assert_array_equal(dataset.graphs.column("y").values, theirs.y)
    np.testing.assert_array_equal(dataset.graphs.edge_index[::-1], theirs.edge_index)
    classes = dataset.task.outputs
    (split,) = dataset.splits
    assert split.sizes == (20 * classes, 500, 1000)
    assert np.bincount(dataset.graphs.column("y").values[split.train]).tolist() == [20] * classes


def test_both_sources_give_the_same_nodes(mirror: Path) -> None:
    x, y, _ = read_npz(mirror / "npz" / "cora.npz")
    other = load("cora").graphs
    assert sorted(map(bytes, x.astype(np.uint8))) == sorted(map(bytes, other.column("x").values.astype(np.uint8)))
    assert sorted(np.bincount(y)) == sorted(np.bincount(other.column("y").values))


def test_random_split_is_frozen() -> None:
    fields = np.arange(2000) % 5
    split = random_split("cora", fields)
    assert split.sizes == (100, 500, 1000)
    assert split.train[:5].tolist() == [9, 31, 37, 43, 49]
    assert (random_split("citeseer", fields).train != split.train).any()


@pytest.fixture
def small(tmp_path: Path) -> dict[str, Path]:
    """Files of the original layout with six papers, the fifth of which has neither words nor field."""
    words = np.eye(6, 4, dtype=np.float32)
    hot = np.eye(2, dtype=np.int32)[[0, 1, 0, 1, 0, 1]]
    content: dict[str, Any] = {
        "allx": scipy.sparse.csr_matrix(words[:3]),
        "tx": scipy.sparse.csr_matrix(words[[5, 3]]),
        "y": hot[:2],
        "ally": hot[:3],
        "ty": hot[[5, 3]],
        "graph": {0: [1, 1], 1: [0, 2], 2: [1, 2], 3: [5], 4: [], 5: [3]},
    }
    raw = {}
    for part in PARTS:
        raw[part] = tmp_path / f"ind.small.{part}"
        if part == "test.index":
            raw[part].write_text("5\n3\n")
        else:
            raw[part].write_bytes(pickle.dumps(content[part], protocol=2))
    return raw


def test_test_nodes_are_reordered_to_their_indices(small: dict[str, Path]) -> None:
    x, y, ends = read_planetoid(small)
    np.testing.assert_array_equal(x[5], np.zeros(4))
    np.testing.assert_array_equal(x[3], [0, 0, 0, 1])
    np.testing.assert_array_equal(x[4], np.zeros(4))
    assert y.tolist() == [0, 1, 0, 1, 0, 1]
    assert ends.shape == (2, 8)


class Evil:
    """Unpickling it would call os.system."""

    def __reduce__(self) -> Any:
        return os.system, ("touch EVIL",)


def parsed_and_split(raw: dict[str, Path]) -> None:
    cora, source = Cora(), Cora.sources[0]
    cora.split(cora.parse(source, raw), source, raw)


@pytest.mark.parametrize("part", [part for part in PARTS if part != "test.index"])
def test_code_in_any_of_the_pickles_raises(
    part: str, small: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    small[part].write_bytes(pickle.dumps(Evil(), protocol=2))
    raw = {f"planetoid/ind.cora.{name}": path for name, path in small.items()}
    with pytest.raises(
        CorruptFileError, match=rf"ind.small.{part} was not read: the pickle asks for (posix|nt).system"
    ):
        parsed_and_split(raw)
    assert not (tmp_path / "EVIL").exists()


DAMAGE: dict[str, tuple[str, Any]] = {
    "do not belong together": ("ally", np.zeros((2, 2), np.int32)),
    "outside 0 to 5": ("graph", {0: [99]}),
    "where a matrix was expected": ("ty", {1: 2}),
    "a matrix of": ("allx", scipy.sparse.csr_matrix((10**9, 4))),
}


@pytest.mark.parametrize("message", DAMAGE)
def test_files_of_other_content_raise(message: str, small: dict[str, Path]) -> None:
    part, content = DAMAGE[message]
    if message == "a matrix of":
        content = scipy.sparse.csr_matrix((3, 4))
        content._shape = (10**9, 4)
    small[part].write_bytes(pickle.dumps(content, protocol=2))
    with pytest.raises(CorruptFileError, match=message):
        read_planetoid(small)


def test_indices_outside_a_matrix_raise(small: dict[str, Path]) -> None:
    matrix = scipy.sparse.csr_matrix(np.eye(3, 4, dtype=np.float32))
    matrix.indices[1] = 1000
    small["allx"].write_bytes(pickle.dumps(matrix, protocol=2))
    with pytest.raises(CorruptFileError, match="do not belong together"):
        read_planetoid(small)


def test_pickled_arrays_raise(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {
        f"{name}_{part}": np.zeros(1) for name in ("adj", "attr") for part in ("data", "indices", "indptr", "shape")
    }
    np.savez(tmp_path / "evil.npz", **arrays, labels=np.array([Evil()], dtype=object))
    with pytest.raises(CorruptFileError, match=r"evil.npz holds no citation graph"):
        read_npz(tmp_path / "evil.npz")
    assert not (tmp_path / "EVIL").exists()
    np.savez(tmp_path / "short.npz", labels=np.zeros(3))
    with pytest.raises(CorruptFileError, match=r"short.npz does not hold adj_data.npy"):
        read_npz(tmp_path / "short.npz")
