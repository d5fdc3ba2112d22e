"""AQSOL: aqueous solubility of 9,823 molecules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graphtrial.core.errors import CorruptFileError
from graphtrial.core.progress import track
from graphtrial.core.temporary import temporary_folder
from graphtrial.datasets.base import DATASETS, PARTS, DatasetSpec, Source, Split
from graphtrial.datasets.molecules.smiles import Chemistry, Molecule, molecule_set
from graphtrial.datasets.statistics import Statistics
from graphtrial.graphs import GraphSet
from graphtrial.io.archive import unpack
from graphtrial.io.pickles.reader import load
from graphtrial.io.sources import GIBIBYTE, File
from graphtrial.io.text_tables import read_records
from graphtrial.tasks import GraphRegression

SIZES = {"train": 7_831, "val": 996, "test": 996}

# Both in the order in which they first occur in the file, which is that of the benchmark's dictionaries.
ATOMS = (
    "Br", "C", "N", "O", "Cl", "Zn", "F", "P", "S", "Na", "Al", "Si", "Mo", "Ca", "W", "Pb", "B", "V", "Co", "Mg",
    "Bi", "Fe", "Ba", "K", "Ti", "Sn", "Cd", "I", "Re", "Sr", "H", "Cu", "Ni", "Lu", "Pr", "Te", "Ce", "Nd", "Gd",
    "Zr", "Mn", "As", "Hg", "Sb", "Cr", "Se", "La", "Dy", "Y", "Pd", "Ag", "In", "Li", "Rh", "Nb", "Hf", "Cs", "Ru",
    "Au", "Sm", "Ta", "Pt", "Ir", "Be", "Ge",
)  # fmt: skip
BONDS = ("none", "single", "double", "aromatic", "triple")

TABLE = File(
    "AQSOL/curated-solubility-dataset.csv",
    "https://dataverse.harvard.edu/api/access/datafile/3407241?format=original",
    "7c47e021d03a5720f53cfddb7aef90c8911ea276a36306c839798733d8630332",
    3_750_208,
    "CC0-1.0",
)
ARCHIVE = File(
    "AQSOL/aqsol_graph_raw.zip", "https://www.dropbox.com/s/lzu9lmukwov12kt/aqsol_graph_raw.zip?dl=1", licence="MIT"
)


@DATASETS.register("aqsol", title="AQSOL")
class AQSOL(DatasetSpec):
    r"""AQSOL, the aqueous solubility of 9,823 molecules: regress log S from the molecular graph.

    The molecules of AqSolDB (Sorkun et al. 2019) as graphs of all written atoms. Train, val and test have different
    scaffolds: the groups of molecules with one Bemis-Murcko scaffold, largest first, go to train as long as it has
    80 percent of all molecules at most, then to val up to 90 percent of all, then to test.

    7,831 / 996 / 996 graphs, 17.57 nodes and 35.76 directed edges on average; x: 65 elements; edge_attr: 5 bond types
    (0 does not occur); y: float.
    """

    name = "aqsol"
    domain = "chemistry"
    task = GraphRegression(metric="mae")
    licence = "CC0-1.0 (AqSolDB); MIT (benchmarking-gnns)"
    paper = "Sorkun et al. 2019 (doi:10.1038/s41597-019-0151-1); Dwivedi et al. (arXiv:2003.00982)"
    published = Statistics(graphs=9_823, nodes=17.57, edges=35.76, node_types=65, edge_types=5, split=(7_831, 996, 996))
    sources = (
        Source(
            "aqsoldb",
            "Built from the SMILES of AqSolDB with RDKit, split by scaffold as the benchmark does. Validation and test "
            "graphs are the published ones, one by one and in their order.",
            (TABLE,),
            libraries=("numpy", "rdkit"),
        ),
        Source("aqsol_graph_raw.zip", "The graphs, targets and split of the benchmark itself.", (ARCHIVE,)),
    )
    notes = (
        "Of 9,982 molecules the benchmark drops those without a bond and those whose last atom has none, as a "
        "counter-ion that is written last. Salts written in another order stay, as disconnected graphs.",
        "Two molecules (rows 4,792 and 5,043) have a nitrogen with more bonds than RDKit allows since 2026; they are "
        "parsed without that check.",
        "No SHA-256 of aqsol_graph_raw.zip was ever published. That of the first download is pinned (trust on "
        "first use); the file is read by the restricted unpickler.",
    )
    node_names = ATOMS
    edge_names = BONDS

    def parse(self, source: Source, raw: Mapping[str, Path]) -> GraphSet:
        parts = from_table(raw[TABLE.name]) if source.name == "aqsoldb" else from_archive(raw[ARCHIVE.name])
        filtered = {part: [molecule for molecule in parts[part] if has_bonded_last_atom(molecule)] for part in PARTS}
        sizes = {part: len(molecules) for part, molecules in filtered.items()}
        if sizes != SIZES:
            raise CorruptFileError(f"{source.name} splits into {sizes}, not {SIZES}; it is not the published data")
        everything = [molecule for part in PARTS for molecule in filtered[part]]
        return molecule_set(
            everything, atom_types=len(ATOMS), bond_types=len(BONDS), meaning="solubility, log10 of mol per litre"
        )

    def split(self, graphs: GraphSet, source: Source, raw: Mapping[str, Path]) -> Sequence[Split]:
        train, val = SIZES["train"], SIZES["train"] + SIZES["val"]
        ids = np.arange(len(graphs))
        return [Split(ids[:train], ids[train:val], ids[val:])]


def from_table(table: Path) -> dict[str, list[Molecule]]:
    """Read the molecules of the CSV file of AqSolDB, split by scaffold."""
    chemistry = Chemistry("aqsol")
    molecules: list[Molecule] = []
    groups: dict[str, list[int]] = {}
    rows = list(_rows(table))
    for smiles, target in track(rows, "reading molecules", len(rows)):
        rdkit_molecule = chemistry.read_without_valence_check(smiles)
        groups.setdefault(chemistry.scaffold(rdkit_molecule), []).append(len(molecules))
        molecules.append(molecule_of(rdkit_molecule, target))
    return {part: [molecules[i] for i in ids] for part, ids in scaffold_split(list(groups.values())).items()}


def scaffold_split(groups: Sequence[Sequence[int]]) -> dict[str, list[int]]:
    """Scaffold split: assign whole groups to train, val and test, larger and later ones first."""
    count = sum(map(len, groups))
    parts: dict[str, list[int]] = {part: [] for part in PARTS}
    for group in sorted(groups, key=lambda group: (len(group), group[0]), reverse=True):
        train, val = len(parts["train"]) + len(group), len(parts["train"]) + len(parts["val"]) + len(group)
        part = "train" if train <= 0.8 * count else "val" if val <= 0.9 * count else "test"
        parts[part].extend(group)
    return parts


def molecule_of(molecule: Any, target: float) -> Molecule:
    """Return the graph of an RDKit molecule with aromatic bond types and both directions of each bond."""
    try:
        atoms = np.array([_ELEMENT[atom.GetSymbol()] for atom in molecule.GetAtoms()])
        bonds = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx(), _BOND[b.GetBondType().name]) for b in molecule.GetBonds()]
    except KeyError as error:
        raise CorruptFileError(f"a molecule has {error}, which is not an atom or bond type of AQSOL") from None
    both = [(i, j, kind) for a, b, kind in bonds for i, j in ((a, b), (b, a))]
    source, end, kinds = np.array(both, np.int64).reshape(-1, 3).T
    return Molecule(atoms, np.stack([source, end]), kinds, target)


def has_bonded_last_atom(molecule: Molecule) -> bool:
    """Return whether the last atom has a bond; the benchmark drops all other molecules."""
    return molecule.ends.size > 0 and int(molecule.ends.max()) + 1 == len(molecule.atoms)


def from_archive(archive: Path) -> dict[str, list[Molecule]]:
    """Read the molecules of the benchmark's archive."""
    members = {part: f"asqol_graph_raw/{part}.pickle" for part in PARTS}  # sic
    with temporary_folder() as folder:
        unpacked = Path(folder) / "aqsol"
        unpack(archive, list(members.values()), unpacked, member_bytes=GIBIBYTE, total_bytes=2 * GIBIBYTE)
        return {part: from_pickle(unpacked / member) for part, member in members.items()}


def from_pickle(path: Path) -> list[Molecule]:
    """Read a pickle of the benchmark, a list of tuples (atoms, bonds, ends, target)."""
    try:
        return [
            Molecule(atoms.reshape(-1), ends.reshape(2, -1), bonds.reshape(-1), float(target))
            for atoms, bonds, ends, target in load(path)
        ]
    except (AttributeError, ValueError, TypeError) as error:
        raise CorruptFileError(f"{path.name} has a malformed molecule ({error!r})") from error


def _rows(table: Path) -> Iterator[tuple[str, float]]:
    for number, row in enumerate(read_records(table)):
        try:
            yield str(row["SMILES"] or ""), float(row["Solubility"])
        except (KeyError, TypeError, ValueError) as error:
            raise CorruptFileError(f"{table.name} lacks SMILES or solubility in row {number} ({error!r})") from error


_ELEMENT = {word: number for number, word in enumerate(ATOMS)}
_BOND = {word.upper(): number for number, word in enumerate(BONDS)}
