"""QM9: quantum chemistry of 130,831 small molecules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from graphtrial.datasets.base import DATASETS, DatasetSpec, Source, Split
from graphtrial.datasets.molecules.conformers import ATOM_FEATURES, BOND_TYPES, Structure
from graphtrial.datasets.qm9_reader import ARCHIVE, LICENCE, TARGETS, UNCHARACTERISED, WHEEL, read_sdf, read_wheel
from graphtrial.datasets.splits import stratified_split
from graphtrial.datasets.statistics import Difference, Statistics
from graphtrial.datasets.targets import standardised_task, target_columns
from graphtrial.graphs import Column, GraphSet
from graphtrial.tasks import GraphRegression, Task

Array = npt.NDArray[Any]
EdgeFunction = Callable[[Structure], tuple[Array, Array]]
RUNS = 5
FRACTIONS = (0.8, 0.1, 0.1)

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
    licence = LICENCE
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
        "No SHA-256 of qm9.zip and uncharacterized.txt was ever published. Those of the first "
        "download are pinned (trust on first use).",
        "To use qm9pack: pip download --no-deps qm9pack==1.0.3, and put the wheel into the mirror as "
        "QM9/qm9pack-1.0.3-py3-none-any.whl.",
        "Targets are standardised over all molecules, test molecules included, as in the reference: a change of units.",
        "The splits are seeded; the reference drew new ones in each run and recorded none.",
    )
    large = True

    def parse(self, source: Source, raw: Mapping[str, Path]) -> GraphSet:
        molecules = read_wheel(raw[WHEEL.name]) if source.name == "qm9pack" else read_sdf(raw)
        structures, targets = zip(*molecules, strict=True)
        return structure_set(structures, np.array(targets), self.edges)

    def task_of(self, graphs: GraphSet) -> Task:
        return standardised_task(graphs)

    def edges(self, structure: Structure) -> tuple[Array, Array]:
        """Return the edges of a molecule and their features: one-hot bond type and length."""
        bond_types = np.eye(len(BOND_TYPES))[structure.bond_types]
        return structure.ends, np.concatenate([bond_types, lengths(structure.positions, structure.ends)], axis=1)

    def split(self, graphs: GraphSet, source: Source, raw: Mapping[str, Path]) -> Sequence[Split]:
        one_class = np.zeros(len(graphs), np.int64)
        return [stratified_split(one_class, FRACTIONS, seed) for seed in range(RUNS)]


@DATASETS.register("qm9-complete", title="QM9 (complete)")
class QM9Complete(QM9):
    r"""QM9 as complete graphs with distances as edge features, as in the TUDataset experiments.

    As qm9, but 324 directed edges on average; edge_attr: single, double, triple, aromatic (all 0 for two atoms without
    a bond) and the distance.
    """

    name = "qm9-complete"
    published = None
    published_as = "qm9"

    def edges(self, structure: Structure) -> tuple[Array, Array]:
        count = len(structure.atoms)
        ends = np.stack(np.nonzero(~np.eye(count, dtype=bool)))
        bond_types = np.zeros((count, count, len(BOND_TYPES)))
        bond_types[structure.ends[0], structure.ends[1], structure.bond_types] = 1
        return ends, np.concatenate([bond_types[ends[0], ends[1]], lengths(structure.positions, ends)], axis=1)


def structure_set(structures: Sequence[Structure], targets: Array, edges_of: EdgeFunction) -> GraphSet:
    """Build a graph set of molecules with raw and standardised targets."""
    edges = [edges_of(structure) for structure in structures]
    columns = {
        "x": Column(np.concatenate([s.atoms for s in structures]), "node", ", ".join(ATOM_FEATURES)),
        "pos": Column(np.concatenate([s.positions for s in structures]).astype(np.float32), "node", "position (Å)"),
        "edge_attr": Column(
            np.concatenate([values for _, values in edges]).astype(np.float32),
            "edge",
            f"{', '.join(kind.lower() for kind in BOND_TYPES)}, length (Å)",
        ),
        **target_columns(targets, ", ".join(name for name, *_ in TARGETS)),
    }
    ends = np.concatenate([pairs for pairs, _ in edges], axis=1)
    return GraphSet.build([len(s.atoms) for s in structures], [len(v) for _, v in edges], ends, columns)


def lengths(positions: Array, ends: Array) -> Array:
    """Return the length of each edge [edges, 1]."""
    return np.asarray(np.linalg.norm(positions[ends[0]] - positions[ends[1]], axis=1)[:, None])
