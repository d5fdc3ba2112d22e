"""Node classification graphs: one disc of nodes per class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphtrial.datasets import Dataset
from graphtrial.plots.drawers.base import DRAWERS, Drawer, draw_links, draw_nodes, frame
from graphtrial.plots.layout import discs
from graphtrial.plots.style import colour_of
from graphtrial.plots.subgraph import Subgraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@DRAWERS.register("communities")
class Communities(Drawer):
    """Nodes grouped and coloured by class, so that dense communities are visible."""

    order = 50

    @staticmethod
    def fits(dataset: Dataset) -> bool:
        y = dataset.graphs.columns.get("y")
        return len(dataset.graphs) > 1 and y is not None and y.level == "node" and y.types is not None

    def caption(self, part: Subgraph) -> str:
        y = part.column("y")
        sizes = [] if y is None else np.bincount(y.reshape(-1).astype(np.int64)).tolist()
        return f"{super().caption(part)}\nnodes per class: {', '.join(map(str, sizes))}"

    def draw(self, axes: Axes, part: Subgraph) -> None:
        y = part.column("y")
        classes = np.zeros(len(part.nodes), np.int64) if y is None else y.reshape(-1).astype(np.int64)
        places = discs(classes)
        links = max(part.ends.shape[1], 1)
        draw_links(axes, places, part.ends, colour="#777777", width=0.3, alpha=min(0.6, max(0.06, 300 / links)))
        draw_nodes(axes, places, [colour_of(int(number)) for number in classes], size=16)
        frame(axes, places)
