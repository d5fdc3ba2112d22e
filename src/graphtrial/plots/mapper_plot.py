"""Plot of a Mapper graph: clusters coloured by their majority class."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import Dataset
from graphtrial.plots.drawers.base import class_name
from graphtrial.plots.mapper import MapperGraph
from graphtrial.plots.style import colour_of, new_figure, our_style, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = npt.NDArray[Any]
SMALLEST, LARGEST = 9.0, 300.0  # areas of discs in square points
GREY = "#a8a8a8"


def plot_mapper(dataset: Dataset, graph: MapperGraph, classes: Mapping[str, Array], path: Path) -> Path:
    """Write one panel for each colouring, such as true and predicted classes."""
    count = int(max(values.max() for values in classes.values())) + 1
    with our_style():
        title = f"{dataset.name}: {len(graph.members)} clusters of {dataset.graphs.num_nodes:,} nodes"
        figure, panels = new_figure(len(classes), title, columns=2, size=(7.4, 6.6))
        places = layout(graph)
        for panel, (subject, values) in zip(panels, classes.items(), strict=True):
            draw(panel, graph, places, values)
            panel.set_title(subject)
        from matplotlib.lines import Line2D

        shown = sorted({int(c) for values in classes.values() for c in graph.majority(values)[0]})
        marks = [
            Line2D([], [], linestyle="", marker="o", markersize=8, color=colour_of(c), label=_label(dataset, c))
            for c in range(count)
            if c in shown
        ]
        figure.legend(handles=marks, loc="outside lower center", ncols=min(len(marks), 7), frameon=False)
        return save(figure, path)


def _label(dataset: Dataset, number: int) -> str:
    name = class_name(dataset, number)
    return f"class {name}" if name.isdecimal() else name


def draw(panel: Axes, graph: MapperGraph, places: Array, classes: Array) -> None:
    """Draw clusters as discs (area by size, opacity by purity) and edges as lines."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba

    majority, purity = graph.majority(classes)
    size = np.array([len(nodes) for nodes in graph.members])
    ends = places[graph.links.T]
    order = np.argsort(graph.strength)
    panel.add_collection(
        LineCollection(list(ends[order]), linewidths=0.5 + 5 * graph.strength[order], colors=GREY, zorder=1)
    )
    area = SMALLEST + (LARGEST - SMALLEST) * size / size.max()
    by_size = np.argsort(-size)
    across, up = places[by_size].T
    colours = [to_rgba(colour_of(int(majority[at])), max(0.35, purity[at])) for at in by_size]
    panel.scatter(
        across,
        up,
        s=area[by_size],
        c=colours,
        edgecolors="white",
        linewidths=0.6,
        zorder=2,
    )
    panel.set_aspect("equal")
    panel.set_axis_off()


def classes_of(dataset: Dataset) -> Array:
    """Return the class of each node of a dataset of one graph."""
    y = dataset.graphs.columns.get("y")
    if len(dataset.graphs) != 1 or y is None or y.level != "node" or y.types is None:
        raise GraphTrialError(f"{dataset.name} is not a single graph whose nodes have classes")
    return np.asarray(y.values, np.int64).reshape(-1)


def layout(graph: MapperGraph) -> Array:
    """Return cluster positions by a spring layout that starts from the lens."""
    import networkx as nx

    drawn = nx.Graph()
    drawn.add_nodes_from(range(len(graph.members)))
    drawn.add_weighted_edges_from(
        (int(a), int(b), float(w)) for (a, b), w in zip(graph.links.T, graph.strength, strict=True)
    )
    low, high = graph.places.min(axis=0), graph.places.max(axis=0)
    start = 2 * (graph.places - low) / np.maximum(high - low, 1e-12) - 1
    moved = nx.spring_layout(drawn, pos=dict(enumerate(start)), iterations=15, seed=0, k=1.6 / np.sqrt(len(drawn)))
    return np.array([moved[number] for number in range(len(drawn))])
