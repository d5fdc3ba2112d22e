"""ZINC-full from small files of both formats."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path

import numpy as np
import pytest
from tests.datasets.test_zinc import entry, write_archive

from graphtrial.datasets import zinc_full
from graphtrial.datasets.molecules.smiles import Chemistry
from graphtrial.datasets.zinc import ALL, ARCHIVE, TEST, VALID, molecule_of, smiles_lists
from graphtrial.datasets.zinc_full import ZINCFull

SMILES = ["CCO", "c1ccccc1", "CC(=O)N", "CCN", "C#N", "CCCl", "CCS", "OCC=O", "CCF", "Cc1ccccc1"]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zinc_full, "VAL_SIZE", 3)
    monkeypatch.setattr(zinc_full, "TEST_SIZE", 2)
    monkeypatch.setattr(zinc_full, "CHUNK", 4)


@pytest.mark.slow
def test_molecule_counts_and_sizes_match_the_published_ones(mirror: Path) -> None:
    """Against the sizes that the TU collection prints for the part that is quickly read: 5,000, 23.10, 24.83."""
    Chem = pytest.importorskip("rdkit.Chem")
    lists = smiles_lists({file.name: mirror / file.name for file in (ALL, VALID, TEST)})
    assert {part: len(actual) for part, actual in lists.items()} == {"train": 220_010, "val": 24_445, "test": 5_000}
    molecules = [Chem.MolFromSmiles(smiles) for smiles in lists["test"]]
    assert round(np.mean([molecule.GetNumAtoms() for molecule in molecules]), 2) == 23.10
    assert round(np.mean([molecule.GetNumBonds() for molecule in molecules]), 2) == 24.83


@pytest.mark.slow
def test_training_set_is_the_complement_of_the_hold_out(small: None, tmp_path: Path) -> None:
    val, test = [SMILES[7], SMILES[2], SMILES[4]], [SMILES[9], SMILES[0]]
    raw = {ALL.name: tmp_path / "all.gz", VALID.name: tmp_path / "valid.txt", TEST.name: tmp_path / "test.txt"}
    raw[ALL.name].write_bytes(gzip.compress("\n".join(SMILES).encode()))
    raw[VALID.name].write_text("\n".join(val) + "\n")
    raw[TEST.name].write_text("\n".join(test) + "\n")
    spec, source = ZINCFull(), ZINCFull.sources[1]
    graphs = spec.parse(source, raw)
    (split,) = spec.split(graphs, source, raw)
    assert split.sizes == (5, 3, 2)
    expected = [smiles for smiles in SMILES if smiles not in val + test] + val + test
    chemistry = Chemistry("test")
    alone = [molecule_of(smiles, chemistry) for smiles in expected]
    np.testing.assert_array_equal(graphs.node_counts, [len(molecule.atoms) for molecule in alone])
    np.testing.assert_allclose(graphs.column("y").values, [molecule.target for molecule in alone], rtol=1e-6)


def test_archive_of_all_molecules_is_read(small: None, tmp_path: Path) -> None:
    chance = np.random.default_rng(0)
    parts = {part: [entry(chance) for _ in range(count)] for part, count in (("train", 6), ("val", 3), ("test", 2))}
    members = {f"molecules/{part}.pickle": pickle.dumps(entries, protocol=3) for part, entries in parts.items()}
    write_archive(tmp_path / "molecules.zip", members)
    spec, source = ZINCFull(), ZINCFull.sources[0]
    raw = {ARCHIVE.name: tmp_path / "molecules.zip"}
    graphs = spec.parse(source, raw)
    entries = [entry for part in parts.values() for entry in part]
    np.testing.assert_array_equal(graphs.node_counts, [e["num_atom"] for e in entries])
    np.testing.assert_array_equal(graphs.edge_counts, [int((e["bond_type"] != 0).sum()) for e in entries])
    (split,) = spec.split(graphs, source, raw)
    assert split.sizes == (6, 3, 2)
