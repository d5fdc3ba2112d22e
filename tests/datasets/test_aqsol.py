"""AQSOL against the benchmark's own pickles, which the restricted reader can read."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from graphtrial.core.errors import CorruptFileError
from graphtrial.datasets import aqsol, load
from graphtrial.datasets.aqsol import ATOMS, BONDS, Molecule, from_pickle, has_bonded_last_atom, scaffold_split
from graphtrial.datasets.molecules.smiles import Chemistry
from graphtrial.io.pickles.reader import load as load_pickle


@pytest.mark.parametrize("part", ["val", "test"])
def test_graphs_match_the_published_ones_in_order(part: str, mirror: Path) -> None:
    dataset = load("aqsol")
    graphs, (split,) = dataset.graphs, dataset.splits
    published = [
        molecule for molecule in from_pickle(mirror / "AQSOL" / f"{part}.pickle") if has_bonded_last_atom(molecule)
    ]
    ids = split.parts[part]
    assert len(ids) == len(published) == 996
    for graph, molecule in zip(ids, published, strict=True):
        nodes = slice(graphs.node_ptr[graph], graphs.node_ptr[graph + 1])
        edges = slice(graphs.edge_ptr[graph], graphs.edge_ptr[graph + 1])
        order = np.lexsort((molecule.ends[0], molecule.ends[1]))
        np.testing.assert_array_equal(graphs.column("x").values[nodes], molecule.atoms)
        np.testing.assert_array_equal(graphs.edge_index[:, edges], molecule.ends[:, order])
        np.testing.assert_array_equal(graphs.column("edge_attr").values[edges], molecule.bonds[order])
        assert graphs.column("y").values[graph] == np.float32(molecule.target)


@pytest.mark.slow
def test_atom_and_bond_types_match_the_published_dictionaries(mirror: Path) -> None:
    atoms, bonds = (
        load_pickle(mirror / "AQSOL" / f"{kind}_dict.pickle", ["__main__.Dictionary"]).attributes
        for kind in ("atom", "bond")
    )
    assert list(ATOMS) == atoms["idx2word"]
    assert [bond.upper() for bond in BONDS] == bonds["idx2word"]
    parts = aqsol.from_table(mirror / "AQSOL" / "curated-solubility-dataset.csv")
    everything = [molecule for part in parts.values() for molecule in part]
    assert {part: len(molecules) for part, molecules in parts.items()} == {"train": 7985, "val": 998, "test": 999}
    counted = np.bincount(np.concatenate([molecule.atoms for molecule in everything]), minlength=len(ATOMS))
    assert counted.tolist() == atoms["idx2num_occurence"]
    twice = np.bincount(np.concatenate([molecule.bonds for molecule in everything]), minlength=len(BONDS))
    assert (twice // 2).tolist()[1:] == bonds["idx2num_occurence"][1:]


@pytest.mark.parametrize("smiles", ["CC1=CC=C[NH++]([O-])[CH-]1", "OC(=O)C1=C[NH++]([O-])[CH-]C=C1"])
def test_invalid_valence_is_accepted(smiles: str) -> None:
    chemistry = Chemistry("aqsol")
    assert chemistry.read_without_valence_check(smiles).GetNumAtoms() in (8, 10)
    assert chemistry.scaffold(chemistry.read_without_valence_check(smiles))
    with pytest.raises(CorruptFileError, match="cannot read the molecule 'C1CC'"):
        chemistry.read_without_valence_check("C1CC")


def test_scaffolds_are_not_split_across_sets() -> None:
    groups = [[0], [1, 2, 3, 4, 5, 6], [7], [8], [9, 10], [11], [12], [13], [14]]
    # 15 molecules: up to 12 to train, up to 13.5 to train and val together; later groups of one size come first.
    assert scaffold_split(groups) == {"train": [1, 2, 3, 4, 5, 6, 9, 10, 14, 13, 12, 11], "val": [8], "test": [7, 0]}


def test_trailing_isolated_atom_is_detected() -> None:
    bond = np.array([[0, 1], [1, 0]])
    kinds = np.ones(2, np.int64)
    assert has_bonded_last_atom(Molecule(np.array([1, 1]), bond, kinds, 0.0))
    assert not has_bonded_last_atom(Molecule(np.array([1, 1, 4]), bond, kinds, 0.0))
    assert not has_bonded_last_atom(Molecule(np.array([4]), np.zeros((2, 0), np.int64), np.zeros(0, np.int64), 0.0))


def write_archive(path: Path, content: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as built:
        for part in ("train", "val", "test"):
            built.writestr(f"asqol_graph_raw/{part}.pickle", content)
    return path


def test_archive_of_the_benchmark_is_read(mirror: Path, tmp_path: Path) -> None:
    content = (mirror / "AQSOL" / "val.pickle").read_bytes()
    parts = aqsol.from_archive(write_archive(tmp_path / "aqsol_graph_raw.zip", content))
    assert [len(parts[part]) for part in ("train", "val", "test")] == [998] * 3
    assert parts["val"][0].target == -4.55


def test_archive_with_code_raises(tmp_path: Path) -> None:
    evil = write_archive(tmp_path / "aqsol_graph_raw.zip", b"cos\nsystem\n(X\x04\x00\x00\x00truetR.")
    with pytest.raises(CorruptFileError, match=r"train.pickle was not read: the pickle asks for os.system"):
        aqsol.from_archive(evil)


def test_archive_of_other_content_raises(tmp_path: Path) -> None:
    with pytest.raises(CorruptFileError, match=r"train.pickle has a malformed molecule"):
        aqsol.from_archive(write_archive(tmp_path / "aqsol_graph_raw.zip", pickle.dumps([(1, 2, 3, 4)])))


def test_table_without_its_columns_raises(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("ID,SMILES\n1,CC\n")
    with pytest.raises(CorruptFileError, match=r"table.csv lacks SMILES or solubility in row 0"):
        aqsol.from_table(tmp_path / "table.csv")
