"""Molecular helpers against NetworkX and by example."""

from __future__ import annotations

import sys

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtrial.core.errors import CorruptFileError, MissingDependencyError
from graphtrial.datasets.molecules.smiles import Chemistry, atom_word, bonds_of, longest_basis_cycle


@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.floats(0.1, 0.6))
@settings(max_examples=200, deadline=None)
def test_longest_basis_cycle_matches_networkx(nodes: int, seed: int, density: float) -> None:
    graph = nx.gnp_random_graph(nodes, density, seed=seed)
    # NetworkX goes through neighbours in the order their edges came; an adjacency matrix gives them sorted.
    ordered = nx.from_numpy_array(nx.to_numpy_array(graph))
    expected = max((len(cycle) for cycle in nx.cycle_basis(ordered)), default=0)
    assert longest_basis_cycle([sorted(ordered[node]) for node in ordered]) == expected


@pytest.mark.parametrize(
    ("smiles", "words"),
    [
        ("c1cc[nH]c1", ["C", "C", "C", "N", "C"]),
        ("C[C@H](O)[NH3+]", ["C", "C H1", "O", "N H3 +"]),
        ("C[N+](=O)[O-]", ["C", "N +", "O", "O -"]),
        ("C[NH2+]C", ["C", "N H2 +", "C"]),
        ("CNC", ["C", "N", "C"]),
    ],
)
def test_atoms_are_element_hydrogens_and_charge(smiles: str, words: list[str]) -> None:
    chemistry = Chemistry("test")
    assert [atom_word(atom) for atom in chemistry.kekulised(chemistry.read(smiles)).GetAtoms()] == words


def test_bonds_are_bidirectional_and_kekulised() -> None:
    chemistry = Chemistry("test")
    source, target, order = bonds_of(chemistry.kekulised(chemistry.read("c1ccccc1")))
    assert len(source) == 12
    assert sorted(order) == [1] * 6 + [2] * 6
    assert set(zip(source, target, strict=True)) == set(zip(target, source, strict=True))


def test_invalid_smiles_raises() -> None:
    with pytest.raises(CorruptFileError, match="cannot read the molecule 'C1CC'"):
        Chemistry("test").read("C1CC")


def test_absent_rdkit_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(MissingDependencyError, match=r"zinc needs RDKit: pip install 'graphtrial\[chem\]'"):
        Chemistry("zinc")
