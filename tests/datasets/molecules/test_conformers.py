"""QM9 and Alchemy from small files of the published formats, the former beside PyG."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from graphtrial.core.errors import CorruptFileError
from graphtrial.datasets.alchemy import Alchemy
from graphtrial.datasets.molecules.conformers import ATOM_FEATURES, StructureReader
from graphtrial.datasets.qm9 import QM9, QM9Complete
from graphtrial.datasets.qm9_reader import ARCHIVE, TARGETS, UNCHARACTERISED, WHEEL
from graphtrial.graphs import GraphSet

Chem = pytest.importorskip("rdkit.Chem")
AllChem = pytest.importorskip("rdkit.Chem.AllChem")
SMILES = ["C", "N", "C#C", "C=O", "CCO", "c1ccoc1", "CC(=O)N", "FC(F)F", "OCC#N", "C1CC1", "c1cc[nH]c1", "CN=O"]
HEADINGS = [
    "mol_id",
    "A",
    "B",
    "C",
    *(name for _, name, _ in TARGETS),
    "u0_atom",
    "u298_atom",
    "h298_atom",
    "g298_atom",
]


def embedded(smiles: str) -> Chem.Mol:
    molecule = Chem.AddHs(Chem.MolFromSmiles(smiles))
    AllChem.EmbedMolecule(molecule, randomSeed=1)
    return molecule


def targets(number: int) -> list[float]:
    return [round(float(v), 4) for v in np.random.default_rng(number).normal(size=len(TARGETS)) * 10 - 40]


@pytest.fixture
def sdf(tmp_path: Path) -> dict[str, Path]:
    """gdb9.sdf, its table and the list of uncharacterised molecules, of which the third is one."""
    blocks, rows = [], [",".join(HEADINGS)]
    for number, smiles in enumerate(SMILES, start=1):
        molecule = embedded(smiles)
        molecule.SetProp("_Name", f"gdb_{number}")
        Chem.Kekulize(molecule, clearAromaticFlags=True)
        blocks.append(Chem.MolToMolBlock(molecule) + "$$$$\n")
        values = [1.0, 2.0, 3.0, *targets(number), 5.0, 6.0, 7.0, 8.0]
        rows.append(",".join([f"gdb_{number}", *map(str, values)]))
    with zipfile.ZipFile(tmp_path / "qm9.zip", "w") as built:
        built.writestr("gdb9.sdf", "".join(blocks))
        built.writestr("gdb9.sdf.csv", "\n".join(rows) + "\n")
    listed = "heading\n" * 9 + "   3  C2H2  C#C\n" + "1 compounds\n"
    (tmp_path / "uncharacterized.txt").write_text(listed)
    return {ARCHIVE.name: tmp_path / "qm9.zip", UNCHARACTERISED.name: tmp_path / "uncharacterized.txt"}


def write_wheel(path: Path, smiles: list[str]) -> dict[str, Path]:
    lines = ["XYZ_file,Index,SMILES,Elements,XYZ_Ang," + ",".join(name for *_, name in TARGETS)]
    for number, text in enumerate(smiles, start=1):
        molecule = embedded(text)
        elements = ",".join(f"'{atom.GetSymbol()}'" for atom in molecule.GetAtoms())
        places = ",".join(f"[{x:.8f},{y:.8f},{z:.8f}]" for x, y, z in molecule.GetConformer().GetPositions())
        lines.append(f'a.xyz,{number},"{text}","[{elements}]","[{places}]",' + ",".join(map(str, targets(number))))
    with zipfile.ZipFile(path, "w") as built:
        for part in (1, 2, 3):
            rows = lines[1:][part - 1 :: 3]
            built.writestr(f"qm9pack/data/qm9_part{part}.csv", "\n".join([lines[0], *rows]) + "\n")
    return {WHEEL.name: path}


def test_sdf_files_match_pyg(sdf: dict[str, Path], tmp_path: Path) -> None:
    datasets = pytest.importorskip("torch_geometric.datasets")
    raw = tmp_path / "pyg" / "raw"
    with zipfile.ZipFile(sdf[ARCHIVE.name]) as opened:
        opened.extractall(raw)
    text = sdf[UNCHARACTERISED.name].read_text()
    (raw / "uncharacterized.txt").write_text(text)
    theirs = datasets.QM9(str(tmp_path / "pyg"))
    graphs = QM9().parse(QM9.sources[0], sdf)
    assert len(graphs) == len(theirs) == len(SMILES) - 1
    in_electronvolt = np.array([1, 1, *[27.211386246] * 3, 1, *[27.211386246] * 5, 1])
    for i, item in enumerate(theirs):
        nodes = slice(graphs.node_ptr[i], graphs.node_ptr[i + 1])
        edges = slice(graphs.edge_ptr[i], graphs.edge_ptr[i + 1])
        x = graphs.column("x").values[nodes]
        np.testing.assert_array_equal(x[:, :6], item.x[:, :6])  # element and atomic number
        np.testing.assert_array_equal(x[:, -1], item.x[:, -1])  # hydrogens
        np.testing.assert_allclose(graphs.column("pos").values[nodes], item.pos, atol=1e-4)
        np.testing.assert_array_equal(graphs.edge_index[::-1, edges], item.edge_index)
        np.testing.assert_allclose(graphs.column("targets").values[i] * in_electronvolt, item.y[0, :12], rtol=1e-5)


def test_qm9pack_matches_the_sdf_file(sdf: dict[str, Path], tmp_path: Path) -> None:
    remaining = [smiles for smiles in SMILES if smiles != "C#C"]
    package = QM9().parse(QM9.sources[1], write_wheel(tmp_path / "qm9pack.whl", SMILES))
    other = QM9().parse(QM9.sources[0], sdf)
    assert (len(package), len(other)) == (len(SMILES), len(remaining))
    mine = {graph_key(package, i) for i in range(len(package))}
    assert {graph_key(other, i) for i in range(len(other))} <= mine


def graph_key(graphs: GraphSet, i: int) -> tuple[object, ...]:
    nodes = slice(graphs.node_ptr[i], graphs.node_ptr[i + 1])
    edges = slice(graphs.edge_ptr[i], graphs.edge_ptr[i + 1])
    kinds = graphs.column("edge_attr").values[edges, :4]
    x = graphs.column("x").values[nodes]
    return (
        x.tobytes(),
        graphs.edge_index[:, edges].tobytes(),
        kinds.tobytes(),
        tuple(graphs.column("targets").values[i]),
    )


def test_targets_are_standardised_and_splits_differ(sdf: dict[str, Path]) -> None:
    graphs = QM9().parse(QM9.sources[0], sdf)
    np.testing.assert_allclose(graphs.column("y").values.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(graphs.column("y").values.std(axis=0), 1, atol=1e-5)
    splits = QM9().split(graphs, QM9.sources[0], sdf)
    assert len(splits) == 5
    assert len({split.test.tobytes() for split in splits}) > 1


def test_features_of_furan_and_acetamide_are_correct() -> None:
    structures = StructureReader("test")
    furan = structures.from_mol_block(Chem.MolToMolBlock(embedded("c1ccoc1")))
    named = {name: furan.atoms[:, i].tolist() for i, name in enumerate(ATOM_FEATURES)}
    assert named["aromatic"] == [1.0] * 5 + [0.0] * 4
    assert named["hydrogens"] == [1.0, 1.0, 1.0, 0.0, 1.0] + [0.0] * 4
    assert named["sp2"][:5] == [1.0] * 5
    amide = structures.from_mol_block(Chem.MolToMolBlock(embedded("CC(=O)N")))
    named = {name: amide.atoms[:, i].tolist() for i, name in enumerate(ATOM_FEATURES)}
    assert named["acceptor"][:4] == [0.0, 0.0, 1.0, 0.0]
    assert named["donor"][:4] == [0.0, 0.0, 0.0, 1.0]
    assert named["atomic number"][:4] == [6.0, 6.0, 8.0, 7.0]


def test_bonds_are_inferred_from_distances_where_smiles_order_differs() -> None:
    molecule = embedded("C#CC#C")
    order = [0, 3, 1, 2, 4, 5]  # the ends first: in the order of the SMILES, bonds would be 4 ångström long
    elements = [molecule.GetAtomWithIdx(i).GetSymbol() for i in order]
    positions = molecule.GetConformer().GetPositions()[order]
    mol = StructureReader("test").from_positions(elements, positions, "C#CC#C")
    bonds = {(int(i), int(j), int(kind)) for (i, j), kind in zip(mol.ends.T, mol.bond_types, strict=True) if i < j}
    assert bonds == {(0, 2, 2), (1, 3, 2), (2, 3, 0), (0, 4, 0), (1, 5, 0)}


def test_complete_graph_has_all_pairwise_distances(tmp_path: Path) -> None:
    raw = write_wheel(tmp_path / "qm9pack.whl", SMILES)
    plain, complete = QM9().parse(QM9.sources[1], raw), QM9Complete().parse(QM9.sources[1], raw)
    np.testing.assert_array_equal(complete.edge_counts, complete.node_counts * (complete.node_counts - 1))
    assert complete.column("edge_attr").values[:, :4].sum() == plain.num_edges
    first = np.repeat(complete.node_ptr[:-1], complete.edge_counts)
    ends = complete.column("pos").values[first + complete.edge_index]
    np.testing.assert_allclose(
        complete.column("edge_attr").values[:, 4], np.linalg.norm(ends[0] - ends[1], axis=1), 1e-4
    )


def test_unexpected_files_raise(sdf: dict[str, Path], tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "qm9.zip", "w") as built:
        built.writestr("gdb9.sdf", "x$$$$\n")
        built.writestr("gdb9.sdf.csv", "mol_id,mu\n1,2\n2,3\n")
    with pytest.raises(CorruptFileError, match=r"gdb9.sdf has 1 molecules, but gdb9.sdf.csv 2 rows"):
        QM9().parse(QM9.sources[0], sdf)
    sdf[UNCHARACTERISED.name].write_text("<html>\n" * 20)
    with pytest.raises(CorruptFileError):
        QM9().parse(QM9.sources[0], sdf)


def test_alchemy_is_read_from_the_text_format(tmp_path: Path) -> None:
    tables = {
        "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n6, 7\n7, 6\n",
        "graph_indicator": "1\n1\n1\n2\n2\n3\n3\n",
        "node_labels": "0\n1\n2\n3\n4\n5\n0\n",
        "node_attributes": "\n".join("0.0, 1.0, 2.0" for _ in range(7)) + "\n",
        "edge_labels": "0\n0\n1\n1\n2\n2\n3\n3\n",
        "graph_attributes": "\n".join(", ".join(str(i * j + 0.5) for j in range(12)) for i in range(3)) + "\n",
    }
    with zipfile.ZipFile(tmp_path / "alchemy_full.zip", "w") as built:
        for table, text in tables.items():
            built.writestr(f"alchemy_full/alchemy_full_{table}.txt", text)
    graphs = Alchemy().parse(Alchemy.sources[0], {Alchemy.sources[0].files[0].name: tmp_path / "alchemy_full.zip"})
    assert len(graphs) == 3
    assert graphs.column("x").width == 6
    assert graphs.column("edge_attr").width == 4
    np.testing.assert_allclose(graphs.column("targets").values[2], np.arange(12) * 2 + 0.5)
    np.testing.assert_allclose(graphs.column("y").values[:, 1:].std(axis=0), 1, atol=1e-6)
    assert (graphs.column("y").values[:, 0] == 0).all()  # a target that never differs
    task = Alchemy().task_of(graphs)
    assert task.outputs == 12
    np.testing.assert_allclose(task.std, [1, *graphs.column("targets").values.std(axis=0)[1:]])
