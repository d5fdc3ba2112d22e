"""Molecules with 3D coordinates: atom features of MPNN and bonds from coordinates, SMILES or mol blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError, missing_extra
from graphtrial.datasets.molecules.smiles import rdkit_errors

Array = npt.NDArray[Any]
ELEMENTS = ("H", "C", "N", "O", "F")
BOND_TYPES = ("SINGLE", "DOUBLE", "TRIPLE", "AROMATIC")
ATOM_FEATURES = (
    *ELEMENTS,
    *("atomic number", "acceptor", "donor", "aromatic", "sp", "sp2", "sp3", "hydrogens"),
)
LONGEST_BOND = 1.9
"""Maximum bond length among C, N, O and F, in ångström."""


@dataclass(frozen=True)
class Structure:
    """Atom features [atoms, 13], positions [atoms, 3] in ångström, directed bonds [2, bonds], bond types [bonds]."""

    atoms: Array
    positions: Array
    ends: Array
    bond_types: Array


class StructureReader:
    """RDKit reader of 3D structures; `dataset` is named in the error if RDKit is missing."""

    def __init__(self, dataset: str) -> None:
        try:
            from rdkit import Chem, Geometry, RDConfig, rdBase
            from rdkit.Chem import ChemicalFeatures, rdDetermineBonds
        except ImportError:
            raise missing_extra(dataset, "RDKit", "chem") from None
        self._chem: Any = Chem
        self._geometry: Any = Geometry
        self._bonds: Any = rdDetermineBonds
        self._features: Any = ChemicalFeatures
        self._definitions = Path(RDConfig.RDDataDir) / "BaseFeatures.fdef"
        self._quiet: Any = rdBase.BlockLogs

    def from_mol_block(self, block: str) -> Structure:
        """Parse a mol block, the record of an SDF file."""
        with self._quiet():
            molecule = self._chem.MolFromMolBlock(block, removeHs=False, sanitize=False)
            if molecule is None:
                raise CorruptFileError(f"RDKit cannot read the molecule that begins with {block[:40]!r}")
            with rdkit_errors(f"the molecule that begins with {block[:40]!r}"):
                return self._featurize(molecule, molecule.GetConformer().GetPositions())

    def from_positions(self, elements: list[str], positions: Array, smiles: str) -> Structure:
        """Build a molecule from elements and positions, with the bonds of a SMILES of its heavy atoms in order.

        Hydrogens are bonded to the nearest heavy atom. If a bond exceeds `LONGEST_BOND`, the atom order of the SMILES
        differs, and bonds are determined from the distances.
        """
        with self._quiet(), rdkit_errors(f"the atoms {''.join(elements)}"):
            return self._featurize(self._from_smiles_bonds(elements, positions, smiles), positions)

    def _from_smiles_bonds(self, elements: list[str], positions: Array, smiles: str) -> Any:
        heavy = [i for i, element in enumerate(elements) if element != "H"]
        plain = self._chem.MolFromSmiles(smiles)
        distance = np.linalg.norm(positions[:, None] - positions[None], axis=2)
        if plain is None or [atom.GetSymbol() for atom in plain.GetAtoms()] != [elements[i] for i in heavy]:
            return self._from_distances(elements, positions)
        self._chem.Kekulize(plain, clearAromaticFlags=True)
        bonds = [(heavy[b.GetBeginAtomIdx()], heavy[b.GetEndAtomIdx()], b.GetBondType()) for b in plain.GetBonds()]
        if any(distance[i, j] > LONGEST_BOND for i, j, _ in bonds):
            return self._from_distances(elements, positions)
        molecule = self._atoms(elements)
        for i, atom in zip(heavy, plain.GetAtoms(), strict=True):
            molecule.GetAtomWithIdx(i).SetFormalCharge(atom.GetFormalCharge())
        for i, j, kind in bonds:
            molecule.AddBond(i, j, kind)
        for i, element in enumerate(elements):
            if element == "H" and heavy:
                molecule.AddBond(i, heavy[int(distance[i, heavy].argmin())], self._chem.BondType.SINGLE)
        return molecule.GetMol()

    def _from_distances(self, elements: list[str], positions: Array) -> Any:
        molecule = self._atoms(elements)
        conformer = self._chem.Conformer(len(elements))
        for i, position in enumerate(positions.tolist()):
            conformer.SetAtomPosition(i, self._geometry.Point3D(*position))
        molecule.AddConformer(conformer)
        try:
            self._bonds.DetermineBonds(molecule, charge=0)
        except ValueError as error:
            raise CorruptFileError(f"RDKit finds no bonds for the atoms {''.join(elements)} ({error})") from error
        return molecule.GetMol()

    def _atoms(self, elements: list[str]) -> Any:
        molecule = self._chem.RWMol()
        for element in elements:
            atom = self._chem.Atom(element)
            atom.SetNoImplicit(True)  # hydrogens are explicit
            molecule.AddAtom(atom)
        return molecule

    @cached_property
    def _factory(self) -> Any:
        return self._features.BuildFeatureFactory(str(self._definitions))

    def _featurize(self, molecule: Any, positions: Array) -> Structure:
        molecule.UpdatePropertyCache(strict=False)
        self._chem.SanitizeMol(molecule, int(self._chem.SANITIZE_ALL) ^ int(self._chem.SANITIZE_PROPERTIES))
        count = molecule.GetNumAtoms()
        families = {"Acceptor": np.zeros(count), "Donor": np.zeros(count)}
        for feature in self._factory.GetFeaturesForMol(molecule):
            if feature.GetFamily() in families:
                families[feature.GetFamily()][list(feature.GetAtomIds())] = 1
        rows = []
        for i, atom in enumerate(molecule.GetAtoms()):
            element, hybrid = atom.GetSymbol(), atom.GetHybridization().name
            if element not in ELEMENTS:
                raise CorruptFileError(f"a molecule has the atom {element}; only {', '.join(ELEMENTS)} are supported")
            hydrogens = sum(other.GetSymbol() == "H" for other in atom.GetNeighbors())
            flags = (families["Acceptor"][i], families["Donor"][i], atom.GetIsAromatic())
            rows.append(
                [element == e for e in ELEMENTS]
                + [atom.GetAtomicNum(), *flags, *(hybrid == h for h in ("SP", "SP2", "SP3")), hydrogens]
            )
        bonds = [
            (b.GetBeginAtomIdx(), b.GetEndAtomIdx(), BOND_TYPES.index(b.GetBondType().name))
            for b in molecule.GetBonds()
        ]
        both = [(i, j, kind) for a, b, kind in bonds for i, j in ((a, b), (b, a))]
        source, target, kinds = np.array(both, np.int64).reshape(-1, 3).T
        return Structure(np.array(rows, np.float32), positions, np.stack([source, target]), kinds)
