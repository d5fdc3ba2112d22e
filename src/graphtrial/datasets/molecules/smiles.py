"""Molecular graphs from SMILES, and molecular properties; RDKit is imported lazily."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError, GraphTrialError, missing_extra
from graphtrial.graphs import Column, GraphSet


@dataclass(frozen=True)
class Molecule:
    """Atom types [atoms], directed bonds as (source, target) [2, bonds], bond types [bonds] and the target."""

    atoms: npt.NDArray[Any]
    ends: npt.NDArray[Any]
    bonds: npt.NDArray[Any]
    target: float


def molecule_set(molecules: Iterable[Molecule], *, atom_types: int, bond_types: int, meaning: str) -> GraphSet:
    """Build a graph set with atom types `x`, bond types `edge_attr` and targets `y`."""
    items = list(molecules)
    columns = {
        "x": Column(np.concatenate([m.atoms for m in items]).astype(np.uint8), "node", "atom type", atom_types),
        "edge_attr": Column(np.concatenate([m.bonds for m in items]).astype(np.uint8), "edge", "bond type", bond_types),
        "y": Column(np.array([m.target for m in items], np.float32), "graph", meaning),
    }
    nodes, edges = [len(m.atoms) for m in items], [len(m.bonds) for m in items]
    return GraphSet.build(nodes, edges, np.concatenate([m.ends for m in items], axis=1), columns)


class Chemistry:
    """RDKit functions used by datasets; `dataset` is named in the error if RDKit is missing."""

    def __init__(self, dataset: str) -> None:
        try:
            from rdkit import Chem, rdBase
            from rdkit.Chem import Crippen, RDConfig
            from rdkit.Chem.Scaffolds import MurckoScaffold
        except ImportError:
            raise missing_extra(dataset, "RDKit", "chem") from None
        self._chem = Chem
        self._crippen: Any = Crippen
        self._scaffold: Any = MurckoScaffold
        self._quiet: Any = rdBase.BlockLogs
        self._contributions = Path(RDConfig.RDContribDir)

    def read(self, smiles: str) -> Any:
        """Parse a SMILES string."""
        with self._quiet():
            molecule = self._chem.MolFromSmiles(smiles)
        if molecule is None:
            raise CorruptFileError(f"RDKit cannot read the molecule {smiles!r}")
        return molecule

    def read_without_valence_check(self, smiles: str) -> Any:
        """Parse a SMILES string, ignoring RDKit's valence check if it fails."""
        with self._quiet():
            molecule = self._chem.MolFromSmiles(smiles)
            if molecule is None:
                molecule = self._chem.MolFromSmiles(smiles, sanitize=False)
                if molecule is None:
                    raise CorruptFileError(f"RDKit cannot read the molecule {smiles!r}")
                all_but_valence = int(self._chem.SANITIZE_ALL) ^ int(self._chem.SANITIZE_PROPERTIES)
                with rdkit_errors(smiles):
                    molecule.UpdatePropertyCache(strict=False)
                    self._chem.SanitizeMol(molecule, all_but_valence)
        return molecule

    def scaffold(self, molecule: Any) -> str:
        """Return the Bemis-Murcko scaffold (1996), with chirality, as a SMILES string."""
        with rdkit_errors("a molecule"):
            return str(self._scaffold.MurckoScaffoldSmiles(mol=molecule, includeChirality=True))

    def canonical(self, molecule: Any) -> Any:
        """Return the molecule with atoms in RDKit's canonical order."""
        return self.read(self._chem.MolToSmiles(molecule, isomericSmiles=True))

    def kekulised(self, molecule: Any) -> Any:
        """Return a kekulised copy, with single and double bonds in place of aromatic ones."""
        copy = self._chem.Mol(molecule)
        with rdkit_errors("a molecule"):
            self._chem.Kekulize(copy, clearAromaticFlags=True)
        return copy

    def log_p(self, molecule: Any) -> float:
        """Return Crippen's estimate of the octanol-water partition coefficient."""
        return float(self._crippen.MolLogP(molecule))

    @cached_property
    def _accessibility(self) -> Any:
        return _contributed(self._contributions / "SA_Score" / "sascorer.py")

    def accessibility(self, molecule: Any) -> float:
        """Return the synthetic accessibility score of Ertl and Schuffenhauer (2009), 1 easy to 10 hard."""
        return float(self._accessibility.calculateScore(molecule))


def atom_word(atom: Any) -> str:
    """Return the atom type of the benchmark: element, explicit hydrogens and charge, such as "N H1 +".

    Hydrogens count where the SMILES has them in brackets, except at neutral nitrogen: RDKit drops the hydrogen of the
    aromatic [nH] when it kekulises, so that atom is a plain N. With this rule the 249,455 molecules of ZINC have just
    the 28 atom types of the benchmark.
    """
    element, charge = atom.GetSymbol(), atom.GetFormalCharge()
    hydrogens = 0 if element == "N" and charge == 0 else atom.GetNumExplicitHs()
    words = [element]
    if hydrogens:
        words.append(f"H{hydrogens}")
    if charge:
        words.append(("+" if charge > 0 else "-") + (str(abs(charge)) if abs(charge) > 1 else ""))
    return " ".join(words)


def bonds_of(molecule: Any) -> npt.NDArray[np.int64]:
    """Return source, target and order [3, bonds] of a kekulised molecule's bonds, each in both directions."""
    bonds = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx(), int(b.GetBondTypeAsDouble())) for b in molecule.GetBonds()]
    both = bonds + [(target, source, order) for source, target, order in bonds]
    table: npt.NDArray[np.int64] = np.array(both, np.int64).reshape(-1, 3).T
    return table


def longest_basis_cycle(neighbours: Sequence[Sequence[int]]) -> int:
    """Return the length of the longest cycle in Paton's cycle basis (1969), 0 for acyclic graphs.

    The basis depends on root and search order; as in NetworkX, which the published targets were computed with, the root
    is the last node and neighbours are visited in the given order.
    """
    longest = 0
    unvisited = dict.fromkeys(range(len(neighbours)))
    while unvisited:
        root = unvisited.popitem()[0]
        parent, seen, stack = {root: root}, {root: set[int]()}, [root]
        while stack:
            node = stack.pop()
            for other in neighbours[node]:
                if other not in seen:
                    parent[other] = node
                    seen[other] = {node}
                    stack.append(other)
                elif other not in seen[node]:
                    length, step = 3, parent[node]
                    while step not in seen[other]:
                        length, step = length + 1, parent[step]
                    longest = max(longest, length)
                    seen[other].add(node)
        for node in parent:
            unvisited.pop(node, None)
    return longest


@contextmanager
def rdkit_errors(subject: str) -> Iterator[None]:
    """Convert RDKit exceptions for invalid molecules into CorruptFileError."""
    try:
        yield
    except (ValueError, RuntimeError) as error:
        raise CorruptFileError(f"RDKit cannot process {subject} ({error})") from error


@cache
def _contributed(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("graphtrial_sa_score", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise GraphTrialError(f"this RDKit has no SA_Score (looked for {path}): pip install 'graphtrial[chem]'")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
