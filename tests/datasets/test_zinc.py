"""ZINC from SMILES against an independent computation, ZINC from the original archive against PyG."""

from __future__ import annotations

import csv
import gzip
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from graphtrial.core.errors import CorruptFileError
from graphtrial.datasets import load, zinc
from graphtrial.datasets.molecules.smiles import Chemistry
from graphtrial.datasets.zinc import ARCHIVE, ATOMS, SIZES, ZINC, molecule_of
from graphtrial.graphs import GraphSet


def test_targets_equal_an_independent_computation(mirror: Path) -> None:
    with gzip.open(mirror / "ZINC" / "zinc12k_rebuilt.csv.gz", "rt") as stream:
        expected = np.array([float(row["y"]) for row in csv.DictReader(stream)])
    dataset = load("zinc")
    assert dataset.provenance["source"] == "smiles"
    np.testing.assert_allclose(dataset.graphs.column("y").values, expected, atol=1e-5)


def test_statistics_of_the_stand_in(mirror: Path) -> None:
    dataset = load("zinc")
    (split,) = dataset.splits
    means = [round(float(dataset.graphs.node_counts[ids].mean()), 2) for ids in split.parts.values()]
    assert means == [23.12, 23.08, 23.12]
    assert all(row["agrees"] for row in dataset.provenance["statistics"])
    assert not (dataset.graphs.column("edge_attr").values == 0).any()
    assert (np.bincount(dataset.graphs.column("x").values, minlength=28)[:15] > 0).all()


def test_both_directions_have_the_same_bond_type(mirror: Path) -> None:
    graphs = load("zinc").graphs
    bonds = graphs.column("edge_attr").values
    # In (source, target) order the edges are the reverses of those in (target, source) order.
    order = graphs.out_order + np.repeat(graphs.edge_ptr[:-1], graphs.edge_counts)
    np.testing.assert_array_equal(graphs.edge_index[:, order], graphs.edge_index[::-1])
    np.testing.assert_array_equal(bonds[order], bonds)


def test_unknown_atom_type_is_named() -> None:
    with pytest.raises(CorruptFileError, match="has the atom 'Si'"):
        molecule_of("C[Si](C)(C)C", Chemistry("zinc"))
    assert len(ATOMS) == len(set(ATOMS)) == 28


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """A small molecules.zip of the original layout, tensors pickled as the original has them, and its index files."""
    chance = np.random.default_rng(0)
    raw: dict[str, Path] = {}
    members = {}
    for part, count in (("train", 30), ("val", 12), ("test", 10)):
        members[f"molecules/{part}.pickle"] = pickle.dumps([entry(chance) for _ in range(count)], protocol=3)
        name = f"ZINC/bench_index/{part}.index"
        raw[name] = tmp_path / f"{part}.index"
        raw[name].write_text(",".join(map(str, chance.permutation(count)[:4])) + "\n")
    write_archive(tmp_path / "molecules.zip", members)
    raw[ARCHIVE.name] = tmp_path / "molecules.zip"
    monkeypatch.setattr(zinc, "SIZES", dict.fromkeys(SIZES, 4))
    return raw


def entry(chance: np.random.Generator) -> dict[str, Any]:
    atoms = int(chance.integers(5, 30))
    upper = np.triu(chance.integers(1, 4, (atoms, atoms)) * (chance.random((atoms, atoms)) < 0.2), 1)
    return {
        "num_atom": atoms,
        "atom_type": torch.from_numpy(chance.integers(0, 28, atoms)).int(),
        "bond_type": torch.from_numpy(upper + upper.T).int(),
        "logP_SA_cycle_normalized": torch.tensor([float(chance.normal())]),
    }


def write_archive(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as built:
        built.writestr("molecules/", b"")
        for name, content in members.items():
            built.writestr(name, content)


def parsed(raw: dict[str, Path]) -> GraphSet:
    return ZINC().parse(ZINC.sources[0], raw)


def test_original_archive_matches_pyg(archive: dict[str, Path], tmp_path: Path) -> None:
    datasets = pytest.importorskip("torch_geometric.datasets")
    with zipfile.ZipFile(archive[ARCHIVE.name]) as opened:
        opened.extractall(tmp_path / "pyg")
    (tmp_path / "pyg" / "molecules").rename(tmp_path / "pyg" / "raw")
    for part in SIZES:
        text = archive[f"ZINC/bench_index/{part}.index"].read_text()
        (tmp_path / "pyg" / "raw" / f"{part}.index").write_text(text)
    graphs = parsed(archive)
    assert len(graphs) == 12
    place = 0
    for part in SIZES:
        for item in datasets.ZINC(str(tmp_path / "pyg"), subset=True, split=part):
            nodes = slice(graphs.node_ptr[place], graphs.node_ptr[place + 1])
            edges = slice(graphs.edge_ptr[place], graphs.edge_ptr[place + 1])
            np.testing.assert_array_equal(graphs.column("x").values[nodes], item.x[:, 0])
            # PyG has the edges by source, we have them by target; the matrix is symmetric.
            np.testing.assert_array_equal(graphs.edge_index[::-1, edges], item.edge_index)
            np.testing.assert_array_equal(graphs.column("edge_attr").values[edges], item.edge_attr)
            assert graphs.column("y").values[place] == item.y.item()
            place += 1


def test_archive_with_code_raises(archive: dict[str, Path]) -> None:
    evil = b"cos\nsystem\n(X\x04\x00\x00\x00truetR."
    write_archive(archive[ARCHIVE.name], {f"molecules/{part}.pickle": evil for part in SIZES})
    with pytest.raises(CorruptFileError, match=r"train.pickle was not read: the pickle asks for os.system"):
        parsed(archive)


def test_archive_of_other_content_raises(archive: dict[str, Path]) -> None:
    other = pickle.dumps([{"atoms": 3}] * 40)
    write_archive(archive[ARCHIVE.name], {f"molecules/{part}.pickle": other for part in SIZES})
    with pytest.raises(CorruptFileError, match="has a malformed molecule"):
        parsed(archive)


def test_invalid_index_file_raises(archive: dict[str, Path]) -> None:
    archive["ZINC/bench_index/val.index"].write_text("1,2,3,500\n")
    with pytest.raises(CorruptFileError, match=r"val.index chooses 4 of 12 molecules"):
        parsed(archive)
