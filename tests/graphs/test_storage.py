"""Saved sets: memory-mapped on open, corruption detected by checksums, nothing unpickled."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.helpers.strategies import Graph, build, graph_lists, random_graphs

from graphtrial.core.errors import CorruptFileError, InvalidGraphError
from graphtrial.core.spec import canonical_json, digest
from graphtrial.graphs import Column, GraphSet, storage

quickly = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved set that no test changes."""
    folder = tmp_path_factory.mktemp("saved") / "set"
    graphs = build(random_graphs(20, seed=1))
    odd = Column(np.array([f"{i}".isdigit() for i in range(20)]), "graph", 'a "quoted" meaning,\x1f\n é', types=2)
    graphs.with_column("odd", odd).save(folder)
    return folder


@pytest.fixture
def copy(saved: Path, tmp_path: Path) -> Path:
    """A saved set to be damaged."""
    folder = tmp_path / "copy"
    shutil.copytree(saved, folder)
    return folder


def flip(path: Path, position: int, bits: int) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= bits
    path.write_bytes(content)


def data_start(path: Path) -> int:
    with path.open("rb") as stream:
        np.lib.format.read_magic(stream)
        np.lib.format.read_array_header_1_0(stream)
        return stream.tell()


@pytest.mark.slow
@quickly
@given(graph_lists())
def test_save_and_open_round_trip(tmp_path: Path, given: list[Graph]) -> None:
    graphs = build(given)
    graphs.save(tmp_path / "set")
    opened = GraphSet.open(tmp_path / "set")
    assert opened.content_hash == graphs.content_hash
    assert {n: (c.level, c.meaning, c.types) for n, c in opened.columns.items()} == {
        n: (c.level, c.meaning, c.types) for n, c in graphs.columns.items()
    }
    for name, array in graphs.structure.items():
        assert np.array_equal(opened.structure[name], array)
        assert opened.structure[name].dtype == array.dtype


def test_opened_arrays_are_read_only_memory_maps(saved: Path) -> None:
    opened = GraphSet.open(saved)
    arrays = [*opened.structure.values(), *(column.values for column in opened.columns.values())]
    assert all(isinstance(array, np.memmap) for array in arrays)
    assert not any(array.flags.writeable for array in arrays)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the memory of the process from /proc")
def test_million_graphs_open_lazily(tmp_path: Path) -> None:
    count = 1_000_000
    counts = np.full(count, 2)
    ends = np.stack([np.zeros(count, np.int64), np.ones(count, np.int64)])
    columns = {"x": Column(np.zeros((2 * count, 4), np.float32), "node"), "y": Column(np.arange(count), "graph")}
    GraphSet.build(counts, counts // 2, ends, columns).save(tmp_path / "set")
    on_disk = sum(file.stat().st_size for file in (tmp_path / "set").iterdir())
    assert on_disk > 60_000_000

    before, started = resident_bytes(), time.perf_counter()
    opened = GraphSet.open(tmp_path / "set")
    seconds, grown = time.perf_counter() - started, resident_bytes() - before
    print(f"opened {count} graphs, {on_disk / 1e6:.0f} MB, in {seconds * 1000:.1f} ms and {grown / 1e6:.2f} MB")
    assert grown < 2_000_000
    assert seconds < 1.0
    assert all(isinstance(array, np.memmap) for array in opened.structure.values())
    assert all(isinstance(column.values, np.memmap) for column in opened.columns.values())

    chosen = opened.subset([999_999, 0, 500_000])
    assert chosen.column("y").values.tolist() == [999_999, 0, 500_000]
    assert resident_bytes() - before < on_disk / 2  # what is looked at is read, not all of it


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@quickly
@given(st.data())
def test_flipped_byte_of_data_is_detected(copy: Path, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(copy.glob("*.npy"))))
    start = data_start(path)
    position = data.draw(st.integers(start, path.stat().st_size - 1))
    bits = data.draw(st.integers(1, 255))
    flip(path, position, bits)
    with pytest.raises(CorruptFileError, match=path.name):
        GraphSet.open(copy)
    flip(path, position, bits)
    GraphSet.open(copy)


@pytest.mark.slow
@settings(quickly, max_examples=200)
@given(st.data())
def test_flipped_byte_of_header_is_detected_or_harmless(saved: Path, copy: Path, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(copy.glob("*.npy"))))
    position = data.draw(st.integers(0, data_start(saved / path.name) - 1))
    bits = data.draw(st.integers(1, 255))
    flip(path, position, bits)
    with suppress(CorruptFileError):
        assert GraphSet.open(copy).content_hash == GraphSet.open(saved).content_hash
    flip(path, position, bits)


@quickly
@given(st.data())
def test_flipped_byte_of_manifest_is_detected(copy: Path, data: st.DataObject) -> None:
    path = copy / "set.json"
    position = data.draw(st.integers(0, path.stat().st_size - 1))
    bits = data.draw(st.integers(1, 255))
    flip(path, position, bits)
    with pytest.raises(CorruptFileError, match=r"set\.json"):
        GraphSet.open(copy)
    flip(path, position, bits)


def test_case_of_a_json_escape_is_detected(copy: Path) -> None:
    path = copy / "set.json"
    text = path.read_text()
    assert "\\u001f" in text
    path.write_text(text.replace("\\u001f", "\\u001F"))
    with pytest.raises(CorruptFileError, match="was changed after it was written"):
        GraphSet.open(copy)


@pytest.mark.parametrize("text", ['{"digest":"x","format":1e999}', '{"digest":"\\ud800"}', "[]", "null", "{}", "NaN"])
def test_invalid_manifest_raises(copy: Path, text: str) -> None:
    (copy / "set.json").write_text(text)
    with pytest.raises(CorruptFileError, match=r"set\.json"):
        GraphSet.open(copy)


@quickly
@given(st.data())
def test_truncated_file_is_detected(copy: Path, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(copy.iterdir())))
    content = path.read_bytes()
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(CorruptFileError, match=path.name):
        GraphSet.open(copy)
    path.write_bytes(content)


def test_extended_file_is_detected(copy: Path) -> None:
    with (copy / "edge_index.npy").open("ab") as stream:
        stream.write(b"\0")
    with pytest.raises(CorruptFileError, match=r"edge_index\.npy"):
        GraphSet.open(copy)


def test_missing_files_are_detected(copy: Path, tmp_path: Path) -> None:
    (copy / "column.x.npy").unlink()
    with pytest.raises(CorruptFileError, match=r"column\.x\.npy"):
        GraphSet.open(copy)
    (copy / "set.json").unlink()
    with pytest.raises(CorruptFileError, match=r"set\.json"):
        GraphSet.open(copy)
    with pytest.raises(CorruptFileError, match=r"nowhere"):
        GraphSet.open(tmp_path / "nowhere")


@pytest.mark.parametrize("array", [np.zeros((2, 3)), np.zeros(20, np.int64), np.zeros((20, 2), np.float64)])
def test_array_of_another_shape_or_dtype_is_detected(copy: Path, array: np.ndarray) -> None:
    np.save(copy / "column.x.npy", array)
    with pytest.raises(CorruptFileError, match=r"column\.x\.npy was changed"):
        GraphSet.open(copy)


def test_fortran_order_raises(copy: Path) -> None:
    values = np.load(copy / "column.x.npy")
    np.save(copy / "column.x.npy", np.asfortranarray(values))
    with pytest.raises(CorruptFileError, match=r"column\.x\.npy was changed"):
        GraphSet.open(copy)


class Burglar:
    """Creates a file when unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return open, (self.path, "w")


def test_nothing_is_ever_unpickled(copy: Path, tmp_path: Path) -> None:
    trap = np.array([Burglar(str(tmp_path / "broken-in"))], dtype=object)
    np.save(copy / "column.y.npy", trap, allow_pickle=True)
    with pytest.raises(CorruptFileError, match=r"column\.y\.npy"):
        GraphSet.open(copy)
    (copy / "column.y.npy").write_bytes(trap.dumps())
    with pytest.raises(CorruptFileError, match=r"column\.y\.npy"):
        GraphSet.open(copy)
    rewrite_manifest(copy, "column.y", ["|O", [1], "0" * 64])
    np.save(copy / "column.y.npy", trap, allow_pickle=True)
    with pytest.raises(CorruptFileError, match=r"column\.y\.npy"):
        GraphSet.open(copy)
    assert not (tmp_path / "broken-in").exists()


def test_object_arrays_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidGraphError, match="dtype object"):
        GraphSet.build([1], [0], np.zeros((2, 0)), {"x": Column(np.array([None]), "node")})
    with pytest.raises(InvalidGraphError, match="'values' has dtype object"):
        storage.save(tmp_path / "set", {"values": np.array([None])}, {})
    assert list(tmp_path.iterdir()) == []


def test_unknown_format_version_is_named(copy: Path) -> None:
    rewrite_manifest(copy, "column.y", None, format=99)
    with pytest.raises(CorruptFileError, match="has format 99; this version reads format 1"):
        GraphSet.open(copy)


def test_saving_again_replaces_the_old_set(tmp_path: Path) -> None:
    build([(2, [(0, 1)])]).save(tmp_path / "set")
    smaller = GraphSet.build([1], [0], np.zeros((2, 0)))
    smaller.save(tmp_path / "set")
    assert GraphSet.open(tmp_path / "set").content_hash == smaller.content_hash
    assert not (tmp_path / "set" / "column.x.npy").exists()


def test_open_set_survives_replacement(tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("open files cannot be renamed there")
    build([(2, [(0, 1)])]).save(tmp_path / "set")
    opened = GraphSet.open(tmp_path / "set")
    build([(3, [(2, 1)])]).save(tmp_path / "set")
    assert opened.edge_index.tolist() == [[0], [1]]


def rewrite_manifest(folder: Path, name: str, described: list | None, **changes: object) -> None:
    manifest = json.loads((folder / "set.json").read_text())
    del manifest["digest"]
    if described is not None:
        manifest["arrays"][name] = described
    manifest.update(changes)
    (folder / "set.json").write_text(canonical_json({"digest": digest(manifest), **manifest}))
