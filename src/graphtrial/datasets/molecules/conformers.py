"""Molecules in space: from coordinates, SMILES or a mol block to atoms, bonds and the features of MPNN."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError, missing_extra
from graphtrial.datasets.molecules.smiles import understood

Array = npt.NDArray[Any]
ELEMENTS = ("H", "C", "N", "O", "F")
KINDS = ("SINGLE", "DOUBLE", "TRIPLE", "AROMATIC")
ATOM_FEATURES = (
    *ELEMENTS,
    *("atomic number", "acceptor", "donor", "aromatic", "sp", "sp2", "sp3", "hydrogens"),
)
LONGEST_BOND = 1.9
"""In ångström; no two atoms among C, N, O and F that are further apart share a bond."""


@dataclass(frozen=True)
class Structure:
    """Atom features [atoms, 13], positions [atoms, 3] in ångström, bonds both ways [2, bonds], their kinds [bonds]."""

    atoms: Array
    positions: Array
    ends: Array
    kinds: Array


class Structures:
    """Reads molecules with RDKit; `dataset` is named in the error where it is absent."""

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

    def from_block(self, block: str) -> Structure:
        """Return the molecule of a mol block, such as sdf files consist of."""
        with self._quiet():
            molecule = self._chem.MolFromMolBlock(block, removeHs=False, sanitize=False)
            if molecule is None:
                raise CorruptFileError(f"RDKit cannot read the molecule that begins with {block[:40]!r}")
            with understood(f"the molecule that begins with {block[:40]!r}"):
                return self._finished(molecule, molecule.GetConformer().GetPositions())

    def from_positions(self, elements: list[str], positions: Array, smiles: str) -> Structure:
        """Return the molecule of these atoms, bonded as the SMILES says, whose atoms are the heavy ones in order.

        Every hydrogen is bonded to the nearest heavy atom. Where the SMILES has the atoms in another order, which the
        distances betray, the bonds are found from the distances.
        """
        with self._quiet(), understood(f"the atoms {''.join(elements)}"):
            return self._finished(self._bonded(elements, positions, smiles), positions)

    def _bonded(self, elements: list[str], positions: Array, smiles: str) -> Any:
        heavy = [i for i, element in enumerate(elements) if element != "H"]
        plain = self._chem.MolFromSmiles(smiles)
        distance = np.linalg.norm(positions[:, None] - positions[None], axis=2)
        if plain is None or [atom.GetSymbol() for atom in plain.GetAtoms()] != [elements[i] for i in heavy]:
            return self._from_distances(elements, positions)
        self._chem.Kekulize(plain, clearAromaticFlags=True)
        bonds = [(heavy[b.GetBeginAtomIdx()], heavy[b.GetEndAtomIdx()], b.GetBondType()) for b in plain.GetBonds()]
        if any(distance[i, j] > LONGEST_BOND for i, j, _ in bonds):
            return self._from_distances(elements, positions)
        made = self._atoms(elements)
        for i, atom in zip(heavy, plain.GetAtoms(), strict=True):
            made.GetAtomWithIdx(i).SetFormalCharge(atom.GetFormalCharge())
        for i, j, kind in bonds:
            made.AddBond(i, j, kind)
        for i, element in enumerate(elements):
            if element == "H" and heavy:
                made.AddBond(i, heavy[int(distance[i, heavy].argmin())], self._chem.BondType.SINGLE)
        return made.GetMol()

    def _from_distances(self, elements: list[str], positions: Array) -> Any:
        made = self._atoms(elements)
        shape = self._chem.Conformer(len(elements))
        for i, place in enumerate(positions.tolist()):
            shape.SetAtomPosition(i, self._geometry.Point3D(*place))
        made.AddConformer(shape)
        try:
            self._bonds.DetermineBonds(made, charge=0)
        except ValueError as error:
            raise CorruptFileError(f"RDKit finds no bonds for the atoms {''.join(elements)} ({error})") from error
        return made.GetMol()

    def _atoms(self, elements: list[str]) -> Any:
        made = self._chem.RWMol()
        for element in elements:
            atom = self._chem.Atom(element)
            atom.SetNoImplicit(True)  # every hydrogen has its own place
            made.AddAtom(atom)
        return made

    @cached_property
    def _factory(self) -> Any:
        return self._features.BuildFeatureFactory(str(self._definitions))

    def _finished(self, molecule: Any, positions: Array) -> Structure:
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
                raise CorruptFileError(f"a molecule has the atom {element}; only {', '.join(ELEMENTS)} are known here")
            hydrogens = sum(other.GetSymbol() == "H" for other in atom.GetNeighbors())
            flags = (families["Acceptor"][i], families["Donor"][i], atom.GetIsAromatic())
            rows.append(
                [element == e for e in ELEMENTS]
                + [atom.GetAtomicNum(), *flags, *(hybrid == h for h in ("SP", "SP2", "SP3")), hydrogens]
            )
        bonds = [
            (b.GetBeginAtomIdx(), b.GetEndAtomIdx(), KINDS.index(b.GetBondType().name)) for b in molecule.GetBonds()
        ]
        both = [(i, j, kind) for a, b, kind in bonds for i, j in ((a, b), (b, a))]
        source, target, kinds = np.array(both, np.int64).reshape(-1, 3).T
        return Structure(np.array(rows, np.float32), positions, np.stack([source, target]), kinds)
