"""Base class of drawers and shared drawing functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from graphtrial.core.registry import Registry
from graphtrial.datasets import Dataset
from graphtrial.plots.style import FAINT, INK
from graphtrial.plots.subgraph import Subgraph, whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = npt.NDArray[Any]
DRAWERS: Registry[type[Drawer]] = Registry("drawer", "graphtrial.plots.drawers")


class Drawer(ABC):
    """Base class of drawers; the supporting drawer of lowest `order` is used."""

    order: ClassVar[int]
    shows: ClassVar[str] = "sample graphs"

    @staticmethod
    @abstractmethod
    def fits(dataset: Dataset) -> bool:
        """Return whether the drawer supports the columns of a dataset."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset

    def parts(self, count: int) -> list[Subgraph]:
        """Return `count` sample graphs."""
        return [whole(self.dataset.graphs, graph) for graph in typical(self.dataset, count)]

    @abstractmethod
    def draw(self, axes: Axes, part: Subgraph) -> None:
        """Draw one graph."""

    def caption(self, part: Subgraph) -> str:
        """Return the title of a panel."""
        y = part.column("y") if self.dataset.graphs.columns.get("y") else None
        text = f"graph {part.graph}: {len(part.nodes)} nodes, {part.ends.shape[1]} edges"
        column = self.dataset.graphs.columns.get("y")
        if column is None or y is None or column.level != "graph":
            return text
        if column.types is not None:
            return f"{text}\nclass {class_name(self.dataset, int(y.reshape(-1)[0]))}"
        values = [f"{value:.3g}".replace("-", "\N{MINUS SIGN}") for value in y.reshape(-1)]
        return f"{text}\ny = {', '.join(values[:3])}{', …' if len(values) > 3 else ''}"


def drawer_of(dataset: Dataset) -> Drawer:
    """Return the drawer of a dataset; `plain` supports all."""
    kinds = sorted((DRAWERS.get(name) for name in DRAWERS), key=lambda kind: kind.order)
    return next(kind for kind in kinds if kind.fits(dataset))(dataset)


def typical(dataset: Dataset, count: int) -> list[int]:
    """Return representative graphs: one per class in turn, else one per size quantile.

    Within a class or quantile the graph of median size is chosen.
    """
    graphs, y = dataset.graphs, dataset.graphs.columns.get("y")
    sizes = np.asarray(graphs.node_counts)
    ids = np.flatnonzero(sizes > 0)
    by_size = ids[np.argsort(sizes[ids], kind="stable")]
    count = min(count, len(ids))
    if not count:
        return []
    if y is None or y.level != "graph" or y.types is None:
        groups = np.array_split(by_size, count)
    else:
        labels = np.asarray(y.values).reshape(-1)[by_size]
        of_class = [by_size[labels == label] for label in np.unique(labels)]
        groups = []
        for i in range(count):
            members = of_class[i % len(of_class)]
            times = len(range(i % len(of_class), count, len(of_class)))
            groups.append(np.array_split(members, min(times, len(members)))[min(i // len(of_class), len(members) - 1)])
    return list(dict.fromkeys(int(group[len(group) // 2]) for group in groups if len(group)))


def class_name(dataset: Dataset, number: int) -> str:
    """Return the name of a class, or its number if it has none."""
    names = getattr(dataset.spec, "classes", ())
    return str(names[number]) if isinstance(names, tuple) and number < len(names) else str(number)


def draw_links(
    axes: Axes, positions: Array, ends: Array, *, colour: str = FAINT, width: float = 0.8, alpha: float = 1.0
) -> None:
    """Draw edges as lines, coalesced and undirected."""
    from matplotlib.collections import LineCollection

    once = np.unique(np.sort(ends, axis=0), axis=1)
    lines = LineCollection(positions[once.T], colors=colour, linewidths=width, alpha=alpha, zorder=1)
    axes.add_collection(lines)


def draw_nodes(axes: Axes, positions: Array, colours: Any, *, size: float, edge: str = INK) -> None:
    """Draw nodes as markers with a thin edge."""
    axes.scatter(positions[:, 0], positions[:, 1], s=size, c=colours, edgecolors=edge, linewidths=0.4, zorder=2)


def frame(axes: Axes, positions: Array, margin: float = 0.06) -> None:
    """Set axis limits to the positions with equal aspect, and hide the axes."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    centre, half = (low + high) / 2, max(float((high - low).max()) * (0.5 + margin), 0.5)
    axes.set_xlim(centre[0] - half, centre[0] + half)
    axes.set_ylim(centre[1] - half, centre[1] + half)
    axes.set_aspect("equal")
    axes.set_axis_off()
