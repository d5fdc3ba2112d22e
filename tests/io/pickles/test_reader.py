"""The restricted unpickler: like Python's on plain data, an error for anything else."""

from __future__ import annotations

import collections
import contextlib
import io
import os
import pickle
import struct
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphtrial.core.errors import CorruptFileError
from graphtrial.io.pickles.reader import load, load_torch, loads
from graphtrial.io.pickles.records import Record, RefusedPickleError

protocols = pytest.mark.parametrize("protocol", [2, 3, 4, 5])
atoms = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
keys = st.text() | st.integers() | st.tuples(st.integers(), st.text())
plain = st.recursive(
    atoms | st.frozensets(st.integers()) | st.sets(st.text()),
    lambda inner: st.lists(inner) | st.dictionaries(keys, inner) | st.tuples(inner, inner, inner, inner),
    max_leaves=30,
)


@pytest.mark.slow
@given(plain, st.sampled_from([2, 3, 4, 5]))
@settings(max_examples=150, deadline=None)
def test_plain_data_matches_pickle(value: Any, protocol: int) -> None:
    assert loads(pickle.dumps(value, protocol)) == value


@given(
    hnp.arrays(
        st.sampled_from(["<i8", ">i4", "u1", "?", "<f4", ">f8", "<f2", "c16", "S5", "<U3"]),
        hnp.array_shapes(min_dims=0, min_side=0, max_side=5),
    ),
    st.sampled_from([2, 3, 4, 5]),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_arrays_match_numpy(array: Any, protocol: int, fortran: bool) -> None:
    array = np.asfortranarray(array) if fortran else array
    for actual in loads(pickle.dumps([array, array], protocol)):
        np.testing.assert_array_equal(actual, array)
        assert actual.dtype == array.dtype


@protocols
def test_shared_references_and_containers_are_restored(protocol: int) -> None:
    shared = [np.arange(3), np.float64(2.5), collections.OrderedDict(a=1)]
    value = {"one": shared, "two": shared, "three": collections.defaultdict(list, {1: [2]}), "b": bytearray(b"xyz")}
    actual = loads(pickle.dumps(value, protocol))
    assert actual["one"] is actual["two"]
    assert actual["one"][1] == 2.5
    assert actual["one"][2] == {"a": 1}
    assert actual["three"] == {1: [2]}
    assert actual["b"] == b"xyz"


@protocols
@pytest.mark.parametrize("dtype", [torch.int64, torch.float32, torch.bool, torch.uint8, torch.float16])
def test_tensors_become_arrays(protocol: int, dtype: torch.dtype) -> None:
    base = torch.arange(24).to(dtype).reshape(4, 6)
    for tensor in (base, base.t(), base[1:3, ::2], base[0, 0], base[:0], base.reshape(2, 3, 4).permute(2, 0, 1)):
        actual = loads(pickle.dumps({"t": tensor, "again": tensor}, protocol))
        np.testing.assert_array_equal(actual["t"], tensor.numpy())


@pytest.mark.parametrize("kind", ["coo_matrix", "csr_matrix", "csc_matrix", "csr_array"])
def test_sparse_matrices_become_records(kind: str) -> None:
    matrix = getattr(scipy.sparse, kind)(np.eye(3))
    actual = loads(pickle.dumps(matrix))
    assert isinstance(actual, Record)
    assert actual.kind == f"scipy.sparse.{kind}"
    np.testing.assert_array_equal(actual.attributes["data"], np.ones(3))


class Foreign:
    def __init__(self) -> None:
        self.values = np.arange(4)


def test_only_listed_classes_become_records() -> None:
    data = pickle.dumps([Foreign()])
    name = f"{Foreign.__module__}.Foreign"
    (actual,) = loads(data, records=[name])
    assert actual.kind == name
    np.testing.assert_array_equal(actual.attributes["values"], np.arange(4))
    with pytest.raises(RefusedPickleError, match="Foreign, which is not plain data"):
        loads(data)


def test_legacy_torch_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "old.pt"
    value = {"a": torch.arange(6).reshape(2, 3), "b": torch.ones(2), "n": 3}
    torch.save(value, path, _use_new_zipfile_serialization=False)
    actual = load_torch(path)
    np.testing.assert_array_equal(actual["a"], value["a"].numpy())
    np.testing.assert_array_equal(actual["b"], [1.0, 1.0])
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(CorruptFileError, match="cut off"):
        load_torch(path)


def test_zip_torch_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "new.pt"
    base = torch.arange(6.0)
    value = {"a": base.reshape(2, 3).t(), "b": base[1:3], "c": np.arange(5), "n": [3, "x"]}
    torch.save(value, path)
    actual = load_torch(path)
    np.testing.assert_array_equal(actual["a"], base.reshape(2, 3).t().numpy())
    np.testing.assert_array_equal(actual["b"], [1.0, 2.0])
    np.testing.assert_array_equal(actual["c"], np.arange(5))
    assert actual["n"] == [3, "x"]
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(CorruptFileError):
        load_torch(path)


def test_code_in_torch_files_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for new in (True, False):
        torch.save({"a": Reduces(os.system, "touch EVIL")}, "evil.pt", _use_new_zipfile_serialization=new)
        with pytest.raises(RefusedPickleError, match=r"evil.pt was not read: the pickle asks for (posix|nt).system"):
            load_torch(Path("evil.pt"))
    assert not Path("EVIL").exists()


LYING = {
    "packed": lambda name, content: (name, content, zipfile.ZIP_DEFLATED),
    "short storages": lambda name, content: (name, content[:-4] if "/data/" in name else content, zipfile.ZIP_STORED),
    "no storages": lambda name, content: (name.replace("/data/", "/lost/"), content, zipfile.ZIP_STORED),
    "no pickle": lambda name, content: (name.replace("data.pkl", "data.txt"), content, zipfile.ZIP_STORED),
    "another byte order": lambda name, content: (name, b"big" if "byteorder" in name else content, zipfile.ZIP_STORED),
}


@pytest.mark.parametrize("lie", LYING)
def test_inconsistent_torch_files_raise(lie: str, tmp_path: Path) -> None:
    torch.save(torch.arange(9.0), tmp_path / "good.pt")
    with zipfile.ZipFile(tmp_path / "good.pt") as good, zipfile.ZipFile(tmp_path / "bad.pt", "w") as bad:
        for info in good.infolist():
            name, content, packing = LYING[lie](info.filename, good.read(info))
            bad.writestr(name, content, packing)
    with pytest.raises(CorruptFileError, match=r"bad.pt cannot be read"):
        load_torch(tmp_path / "bad.pt")


def test_original_csl_files_are_read(mirror: Path) -> None:
    labels = load_torch(mirror / "CSL" / "y_Kary_Deterministic_Graphs.pt")
    np.testing.assert_array_equal(labels, np.repeat(np.arange(10), 15))
    matrices = load(mirror / "CSL" / "graphs_Kary_Deterministic_Graphs.pkl")
    assert len(matrices) == 150
    graph = nx.Graph(zip(matrices[20].attributes["row"], matrices[20].attributes["col"], strict=True))
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    assert nx.is_isomorphic(graph, nx.circulant_graph(41, [1, 3]))


@pytest.mark.parametrize(("name", "rows"), [("val", 998), ("test", 999)])
def test_original_aqsol_files_are_read(mirror: Path, name: str, rows: int) -> None:
    molecules = load(mirror / "AQSOL" / f"{name}.pickle")
    assert len(molecules) == rows
    atoms, bonds, ends, solubility = molecules[0]
    assert ends.shape == (2, len(bonds))
    assert ends.max() == len(atoms) - 1
    assert -15 < solubility < 5


def test_original_aqsol_dictionaries_are_read(mirror: Path) -> None:
    path = mirror / "AQSOL" / "atom_dict.pickle"
    with pytest.raises(
        RefusedPickleError, match=r"atom_dict.pickle was not read: the pickle asks for __main__.Dictionary"
    ):
        load(path)
    assert len(load(path, records=["__main__.Dictionary"]).attributes["idx2word"]) == 65


class Reduces:
    """Pickles to a call of `call` with `arguments`."""

    def __init__(self, call: Any, *arguments: Any, state: Any = None) -> None:
        self.parts = (call, arguments, state) if state is not None else (call, arguments)

    def __reduce__(self) -> Any:
        return self.parts


EVIL = [
    Reduces(os.system, "touch EVIL"),
    Reduces(eval, "open('EVIL', 'w')"),
    Reduces(exec, "open('EVIL', 'w')"),
    Reduces(open, "EVIL", "w"),
    Reduces(getattr, "text", "join"),
    Reduces(__import__, "os"),
    Reduces(subprocess.Popen, ["touch", "EVIL"]),
    Reduces(np.load, "EVIL"),
    Reduces(torch.load, "EVIL"),
    Reduces(pickle.loads, b"x"),
    Reduces(os.path.join, "a"),
    Reduces(map, exec, [1]),
    Reduces(np.ndarray, (3,)),
    Reduces(list, [1]),
    {"deep": [(1, Reduces(exec, Reduces(os.system, "touch EVIL")))]},
    Reduces(set, Reduces(os.system, "touch EVIL")),
    Reduces(collections.OrderedDict, state={"__class__": os.system}),
    Reduces(np.dtype, "O"),
    np.array([exec, None], dtype=object),
    np.zeros(2, dtype=[("a", "i4")]),
]


@protocols
@pytest.mark.parametrize("evil", EVIL, ids=range(len(EVIL)))
def test_code_is_refused_and_not_executed(
    evil: Any, protocol: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = pickle.dumps(evil, protocol)
    with pytest.raises(CorruptFileError):
        loads(data)
    (tmp_path / "evil.pickle").write_bytes(data)
    with pytest.raises(CorruptFileError, match=r"evil.pickle"):
        load(tmp_path / "evil.pickle")
    assert [p.name for p in tmp_path.iterdir()] == ["evil.pickle"]


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value)) + value.encode()


RAW = {
    "call of a dotted name": b"\x80\x04" + b"\x8c\x02os\x8c\x06system\x93\x8c\x0atouch EVIL\x85R.",
    "attribute chain through a stack global": b"\x80\x04\x8c\x05numpy\x8c\x10core.os.system.x\x93.",
    "chain under an allowed name": b"\x80\x04\x8c\x05numpy\x8c\x13dtype.__subclasses__\x93)R.",
    "build on a builder": b"\x80\x02cnumpy\ndtype\n}" + text("call") + b"cos\nsystem\nsb.",
    "build on a builder with slots": b"\x80\x02ccollections\nOrderedDict\nN}" + text("call") + b"K\x01s\x86b.",
    "build on a list": b"\x80\x02]}" + text("__class__") + b"K\x01sb.",
    "build on an integer": b"\x80\x02K\x01}b.",
    "call of a text": b"\x80\x02" + text("os.system") + text("touch EVIL") + b"\x85R.",
    "call of a token": b"\x80\x02cnumpy\nndarray\n)R.",
    "new object of a builder": b"\x80\x02cnumpy\ndtype\n)\x81.",
    "new object with keywords": b"\x80\x04\x8c\x05numpy\x8c\x05dtype\x93)}\x92.",
    "instance instruction": b"(" + text("touch EVIL") + b"ios\nsystem\n.",
    "object instruction": b"(cos\nsystem\n" + text("touch EVIL") + b"o.",
    "extension registry": b"\x80\x02\x82\x01.",
    "persistent id": b"\x80\x02K\x01Q.",
    "text persistent id": b"Pos.system\n.",
    "name that is no text": b"\x80\x04K\x01K\x02\x93.",
    "append to a dictionary": b"\x80\x02}K\x01a.",
    "items of a list": b"\x80\x02]K\x01K\x02s.",
    "tensor without storage": b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(K\x01K\x00K\x01\x85K\x01\x85\x89}tR.",
    "nested tuple as a key": b"\x80\x02}" + b")" + b"\x85" * 200_000 + b"K\x01s.",
    "nested tuple in a message": b"\x80\x02cnumpy\ndtype\n)" + b"\x85" * 200_000 + b"\x85R.",
    "huge bytes": b"\x80\x04\x8e" + struct.pack("<Q", 2**60) + b"abc.",
    "huge memo place": b"\x80\x02K\x01r\xff\xff\xff\xff.",
    "huge bytearray": b"\x80\x02c__builtin__\nbytearray\n\x8a\x06\x00\x00\x00\x00\x00\x10\x85R.",
    "huge shape": b"\x80\x02cnumpy.core.multiarray\n_reconstruct\n)R"
    + b"(K\x01J\xff\xff\xff\x7f\x85cnumpy\ndtype\nX\x02\x00\x00\x00f8\x85R\x89C\x01xtb.",
    "one long text repeated": b"\x80\x02" + text("x" * 50_000) + b"q\x00"
    + b"c_codecs\nencode\nh\x00" + text("latin1") + b"\x86R" * 1
    + (b"c_codecs\nencode\nh\x00" + text("latin1") + b"\x86R") * 1000 + b".",
    "empty": b"",
    "only a stop": b".",
    "pop of nothing": b"0.",
    "mark without items": b"\x80\x02t.",
    "absent memo": b"\x80\x02h\x07.",
    "garbage": bytes(range(256)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", RAW)
def test_crafted_pickles_raise(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CorruptFileError) as caught:
        loads(RAW[name])
    assert len(str(caught.value)) < 500
    assert not list(tmp_path.iterdir())


def test_refusal_names_the_class() -> None:
    with pytest.raises(
        RefusedPickleError, match=r"asks for (posix|nt)\.system, which is not plain data; nothing was run"
    ):
        loads(pickle.dumps(Reduces(os.system, "true")))


def test_nested_torch_storages_raise() -> None:
    inner = pickle.dumps(torch.ones(1), 2)
    buffer = io.BytesIO()
    torch.save(1, buffer, _use_new_zipfile_serialization=False)
    greeting = buffer.getvalue()[: buffer.getvalue().rindex(b"\x80\x02K\x01.")]
    evil = (
        b"\x80\x02ctorch.storage\n_load_from_bytes\n"
        + b"B"
        + struct.pack("<I", len(greeting + inner))
        + greeting
        + inner
    )
    with pytest.raises(RefusedPickleError, match=r"torch.storage._load_from_bytes, which is not plain data"):
        loads(evil + b"\x85R.")


@given(st.binary(max_size=60))
@settings(max_examples=300, deadline=None)
def test_random_bytes_only_raise(noise: bytes) -> None:
    with contextlib.suppress(CorruptFileError):
        loads(b"\x80\x04" + noise + b".")
