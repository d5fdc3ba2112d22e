"""Skeletal formulas of molecules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from graphtrial.datasets import Dataset
from graphtrial.graphs import Column
from graphtrial.plots.drawers.base import DRAWERS, Array, Drawer, frame
from graphtrial.plots.layout import layout
from graphtrial.plots.style import INK
from graphtrial.plots.subgraph import Subgraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ORDERS = {"single": 1, "double": 2, "triple": 3, "aromatic": 4}
COLOURS = {
    "O": "#d62728", "N": "#0055cc", "S": "#a07800", "F": "#009e73", "Cl": "#009e73", "Br": "#8a3a00", "I": "#7d3f9f",
    "P": "#d55e00", "H": "#777777",
}  # fmt: skip
_BELOW, _ABOVE = str.maketrans("23", "₂₃"), str.maketrans("23+-", "²³⁺⁻")
_ELEMENT = re.compile(r"(H|B|C|N|O|F|P|S|I|K|V|W|Y|[A-Z][a-z])( H\d?)?( ?[+-]\d?)?")


@DRAWERS.register("molecule")
class MoleculeDrawer(Drawer):
    """Bonds as one, two or three lines (a dashed one where aromatic), atoms other than carbon by their symbol."""

    order = 10

    @staticmethod
    def fits(dataset: Dataset) -> bool:
        x, bonds = dataset.graphs.columns.get("x"), dataset.graphs.columns.get("edge_attr")
        if x is None or bonds is None:
            return False
        atoms, kinds = names_of(x, dataset.spec.node_names), names_of(bonds, dataset.spec.edge_names)
        return bool(atoms and kinds) and _ELEMENT.fullmatch(atoms[0]) is not None and "single" in kinds

    def draw(self, axes: Axes, part: Subgraph) -> None:
        spec, columns = self.dataset.spec, self.dataset.graphs.columns
        words = words_of(part, "x", columns["x"], spec.node_names)
        kinds = words_of(part, "edge_attr", columns["edge_attr"], spec.edge_names)
        pairs = zip(part.ends.T.tolist(), kinds, strict=True)
        bonds = {(i, j): ORDERS[kind] for (i, j), kind in pairs if i < j and kind in ORDERS}
        places = skeleton(words, bonds)
        size = float(np.clip(190 / max(np.ptp(places, axis=0).max(), 8), 4.5, 9))
        for (i, j), order in bonds.items():
            for line, style in bond_lines(places[i], places[j], order):
                axes.plot(*line, color=INK, linewidth=1.1, linestyle=style, solid_capstyle="round", zorder=1)
        for word, place in zip(words, places, strict=True):
            text = label(word)
            if text:
                box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none"}
                colour = COLOURS.get(word.split(" ")[0], INK)
                x, y = place.tolist()
                axes.text(x, y, text, color=colour, fontsize=size, ha="center", va="center", bbox=box, zorder=2)
        frame(axes, places, margin=0.1)


def names_of(column: Column, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the category names of a column, or the feature names listed in its meaning."""
    if column.types is not None:
        return names
    listed = tuple(part.strip().split(" (")[0] for part in column.meaning.split(","))
    return listed if len(listed) == column.width > 1 else ()


def words_of(part: Subgraph, name: str, column: Column, names: tuple[str, ...]) -> list[str]:
    """Return the category name of each atom or bond, from indices or one-hot vectors."""
    values = part.column(name)
    if values is None:
        return []
    listed = names_of(column, names)
    if column.types is not None:
        return [listed[int(number)] for number in values.reshape(-1)]
    columns = [i for i, word in enumerate(listed) if _ELEMENT.fullmatch(word) or word in ORDERS]
    chosen = values[:, columns]
    return [listed[columns[int(i)]] if top > 0 else "" for i, top in zip(chosen.argmax(1), chosen.max(1), strict=True)]


def label(word: str) -> str:
    """Return the label of an atom: symbol, explicit hydrogens and charge; empty for neutral carbon."""
    element, *rest = word.split(" ")
    hydrogens = "".join(part for part in rest if part[0] == "H").replace("H1", "H").translate(_BELOW)
    charge = "".join(part[1:] + part[0] for part in rest if part[0] in "+-").translate(_ABOVE)
    return "" if element == "C" and not charge else f"{element}{hydrogens}{charge}"


def skeleton(words: list[str], bonds: dict[tuple[int, int], int]) -> Array:
    """Return 2D coordinates of the atoms, by RDKit if installed, else by a graph layout."""
    try:
        from rdkit import Chem, rdBase
        from rdkit.Chem import rdDepictor
    except ImportError:
        return layout(len(words), np.array(list(bonds), np.int64).reshape(-1, 2).T)
    editable: Any = Chem.RWMol()
    for word in words:
        editable.AddAtom(Chem.Atom(word.split(" ")[0]))
    kinds = {1: Chem.BondType.SINGLE, 2: Chem.BondType.DOUBLE, 3: Chem.BondType.TRIPLE, 4: Chem.BondType.SINGLE}
    for (i, j), order in bonds.items():
        editable.AddBond(i, j, kinds[order])
    with rdBase.BlockLogs():
        molecule = editable.GetMol()
        molecule.UpdatePropertyCache(strict=False)
        Chem.FastFindRings(molecule)
        rdDepictor.Compute2DCoords(molecule, canonOrient=True)
    return np.asarray(molecule.GetConformer().GetPositions()[:, :2])


def bond_lines(start: Array, end: Array, order: int) -> list[tuple[Array, str]]:
    """Return the line segments of a bond with their line styles."""
    along = (end - start) / (np.linalg.norm(end - start) or 1.0)
    aside = np.array([-along[1], along[0]]) * 0.11
    shifts = {1: [0.0], 2: [-1.0, 1.0], 3: [-1.6, 0.0, 1.6], 4: [-1.0, 1.0]}[order]
    styles = {4: ["-", (0, (2, 1.6))]}.get(order, ["-"] * 3)
    lines: list[tuple[Array, Any]] = []
    for shift, style in zip(shifts, styles, strict=False):
        lines.append((np.stack([start + shift * aside, end + shift * aside]).T, style))
    return lines
