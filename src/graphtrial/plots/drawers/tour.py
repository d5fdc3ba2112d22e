"""TSP instances with the tour in red."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphtrial.datasets import Dataset
from graphtrial.plots.drawers.base import DRAWERS, Drawer, draw_links, draw_nodes, frame
from graphtrial.plots.style import INK, WARM
from graphtrial.plots.subgraph import Subgraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@DRAWERS.register("tour")
class Tour(Drawer):
    """Nodes at their coordinates, edges of class 1 in red, others faint."""

    order = 20

    @staticmethod
    def fits(dataset: Dataset) -> bool:
        x, y = dataset.graphs.columns.get("x"), dataset.graphs.columns.get("y")
        planar = x is not None and x.level == "node" and x.types is None and x.width == 2
        return planar and y is not None and y.level == "edge" and y.width == 1

    def caption(self, part: Subgraph) -> str:
        y = part.column("y")
        chosen = part.ends[:, [] if y is None else y.reshape(-1) == 1]
        links = np.unique(np.sort(chosen, axis=0), axis=1).shape[1]
        return f"{super().caption(part)}\n{links} links of the tour, in red"

    def draw(self, axes: Axes, part: Subgraph) -> None:
        places, y = part.column("x"), part.column("y")
        if places is None or y is None:
            return
        chosen = y.reshape(-1) == 1
        draw_links(axes, places, part.ends[:, ~chosen], width=0.25, alpha=0.5)
        draw_links(axes, places, part.ends[:, chosen], colour=WARM, width=1.3)
        draw_nodes(axes, places, [INK] * len(places), size=6)
        frame(axes, places)
