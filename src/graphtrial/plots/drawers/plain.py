"""Node-link diagrams of any graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphtrial.datasets import Dataset
from graphtrial.plots.drawers.base import DRAWERS, Array, Drawer, draw_links, draw_nodes, frame, typical
from graphtrial.plots.layout import layout
from graphtrial.plots.style import MAIN, PALETTE, colour_of
from graphtrial.plots.subgraph import Subgraph, neighbourhood, whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NODES = 300


@DRAWERS.register("plain")
class Plain(Drawer):
    """Graph layout with nodes coloured by category; large graphs are reduced to a neighbourhood."""

    order = 100

    @staticmethod
    def fits(dataset: Dataset) -> bool:
        return True

    def parts(self, count: int) -> list[Subgraph]:
        graphs = self.dataset.graphs
        parts = []
        for graph in typical(self.dataset, count):
            part = whole(graphs, graph)
            if len(part.nodes) > MOST_NODES:
                middle = int(np.argmax(graphs.in_degree[part.nodes]))
                part = neighbourhood(graphs, graph, middle, MOST_NODES)
            parts.append(part)
        return parts

    def caption(self, part: Subgraph) -> str:
        text = super().caption(part)
        size = int(self.dataset.graphs.node_counts[part.graph])
        cut = len(part.nodes) < size
        return text.replace(f": {len(part.nodes)} nodes", f": {len(part.nodes)} of {size} nodes", 1) if cut else text

    def draw(self, axes: Axes, part: Subgraph) -> None:
        places = layout(len(part.nodes), part.ends)
        crowded = len(part.nodes) > 80 or part.ends.shape[1] > 500
        draw_links(axes, places, part.ends, colour="#a0a0a0", width=0.4 if crowded else 0.9)
        draw_nodes(axes, places, node_colours(part), size=10 if crowded else 26)
        frame(axes, places)


def node_colours(part: Subgraph) -> list[str]:
    """Return a colour per node by its category (index or one-hot), else a constant."""
    for name in ("x", "node_label"):
        column = part.graphs.columns.get(name)
        values = part.column(name)
        if column is None or values is None or column.level != "node":
            continue
        types = _categories(values, column.types)
        if types is not None and types.max(initial=0) < len(PALETTE):
            return [colour_of(int(number)) for number in types]
    return [MAIN] * len(part.nodes)


def _categories(values: Array, types: int | None) -> Array | None:
    table = values.reshape(len(values), -1)
    if types is not None:
        return table[:, 0]
    one_hot = table.shape[1] > 1 and np.isin(table, (0, 1)).all() and (table.sum(axis=1) == 1).all()
    return table.argmax(axis=1) if one_hot else None
