"""Circular skip link graphs: a cycle and its chords."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphtrial.datasets import Dataset
from graphtrial.datasets.csl import COPIES, CSL, NODES, SKIPS, relabellings
from graphtrial.plots.drawers.base import DRAWERS, Drawer, draw_links, draw_nodes, frame
from graphtrial.plots.style import INK, MAIN
from graphtrial.plots.subgraph import Subgraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@DRAWERS.register("ring")
class Ring(Drawer):
    """The cycle of length 41 with skip links as chords, in the original node order."""

    order = 10

    @staticmethod
    def fits(dataset: Dataset) -> bool:
        return isinstance(dataset.spec, CSL)

    def caption(self, part: Subgraph) -> str:
        return f"{super().caption(part)}, skip {SKIPS[part.graph // COPIES]}"

    def draw(self, axes: Axes, part: Subgraph) -> None:
        permutation = relabellings(SKIPS[part.graph // COPIES])[part.graph % COPIES]
        angle = np.empty(NODES)
        angle[permutation] = np.pi / 2 - 2 * np.pi * np.arange(NODES) / NODES
        places = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        step = np.abs(np.diff(angle[part.ends], axis=0)[0]) * NODES / (2 * np.pi)
        on_ring = np.isclose(step, 1) | np.isclose(step, NODES - 1)
        for i, j in np.unique(np.sort(part.ends[:, ~on_ring], axis=0), axis=1).T:
            bend = np.linspace(-1, 1, 13)[:, None]  # bend chords inwards, so that short ones are visible
            line = (places[i] * (1 - bend) + places[j] * (1 + bend)) / 2 * (0.75 + 0.25 * bend**2)
            axes.plot(line[:, 0], line[:, 1], color="#9a9a9a", linewidth=0.8, zorder=1)
        draw_links(axes, places, part.ends[:, on_ring], colour=INK, width=1.4)
        draw_nodes(axes, places, [MAIN] * NODES, size=22)
        frame(axes, places)
