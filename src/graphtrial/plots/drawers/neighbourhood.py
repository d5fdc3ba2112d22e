"""Single large graphs: neighbourhoods of sample nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphtrial.datasets import Dataset
from graphtrial.plots.drawers.base import DRAWERS, Drawer, class_name, draw_links, draw_nodes, frame
from graphtrial.plots.layout import layout
from graphtrial.plots.style import INK, MAIN, colour_of
from graphtrial.plots.subgraph import Subgraph, neighbourhood

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NODES = 60


@DRAWERS.register("neighbourhood")
class Neighbourhood(Drawer):
    """Neighbourhoods of nodes of median degree, class by class; the centre is circled, colours are classes."""

    order = 40
    shows = "neighbourhoods of some nodes"

    @staticmethod
    def fits(dataset: Dataset) -> bool:
        return len(dataset.graphs) == 1

    def parts(self, count: int) -> list[Subgraph]:
        graphs, y = self.dataset.graphs, self.dataset.graphs.columns.get("y")
        degree = np.asarray(graphs.in_degree) + np.asarray(graphs.out_degree)
        linked = np.flatnonzero(degree > 0) if degree.any() else np.arange(len(degree))
        if y is not None and y.level == "node" and y.types is not None:
            labels = np.asarray(y.values).reshape(-1)[linked]
            groups = [linked[labels == label] for label in np.unique(labels)]
        else:
            groups = np.array_split(linked[np.argsort(degree[linked], kind="stable")], count)
        chosen = []
        for turn in range(count):
            members = groups[turn % len(groups)]
            if len(members):
                by_degree = members[np.argsort(degree[members], kind="stable")]
                chosen.append(int(by_degree[min(len(members) // 2 + turn // len(groups), len(members) - 1)]))
        return [neighbourhood(graphs, 0, node, MOST_NODES) for node in dict.fromkeys(chosen)]

    def caption(self, part: Subgraph) -> str:
        node = int(part.nodes[0])
        degree = len(np.unique(part.ends[:, (part.ends == 0).any(axis=0)])) - 1
        text = f"node {node} and its {len(part.nodes) - 1} nearest\n{degree} direct neighbours among them"
        y = self.dataset.graphs.columns.get("y")
        if y is not None and y.level == "node" and y.types is not None:
            text = f"{text}, class {class_name(self.dataset, int(np.asarray(y.values).reshape(-1)[node]))}"
        return text

    def draw(self, axes: Axes, part: Subgraph) -> None:
        places = layout(len(part.nodes), part.ends)
        y = self.dataset.graphs.columns.get("y")
        colours = [MAIN] * len(part.nodes)
        if y is not None and y.level == "node" and y.types is not None:
            colours = [colour_of(int(v)) for v in np.asarray(y.values).reshape(-1)[part.nodes]]
        draw_links(axes, places, part.ends, width=0.6)
        draw_nodes(axes, places, colours, size=24)
        axes.scatter(places[:1, 0], places[:1, 1], s=90, facecolors="none", edgecolors=INK, linewidths=1.6, zorder=3)
        frame(axes, places)
