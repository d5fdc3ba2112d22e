"""Figures of a dataset: sample graphs, and statistics."""

from __future__ import annotations

import re
from pathlib import Path

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import Dataset
from graphtrial.plots.drawers import drawer_of
from graphtrial.plots.statistics import panels
from graphtrial.plots.style import new_figure, our_style, save

FORMATS = ("png", "svg")
MOST_GRAPHS = 48


def plot(dataset: Dataset, folder: Path, *, graphs: int = 6, format: str = "png") -> list[Path]:
    """Write two figures to a folder and return their paths: sample graphs, and statistics.

    Deterministic. `format` is png or svg.
    """
    if format not in FORMATS:
        raise GraphTrialError(f"pictures are written as {' or '.join(FORMATS)}, not as '{format}'")
    if not 1 <= graphs <= MOST_GRAPHS:
        raise GraphTrialError(f"a picture shows 1 to {MOST_GRAPHS} graphs, not {graphs}")
    name = re.sub(r"[^\w.+-]", "-", dataset.name)
    with our_style():
        return [
            _graphs(dataset, folder / f"{name}-graphs.{format}", graphs),
            _statistics(dataset, folder / f"{name}-statistics.{format}"),
        ]


def _graphs(dataset: Dataset, path: Path, count: int) -> Path:
    drawer = drawer_of(dataset)
    parts = drawer.parts(count)
    if not parts:
        raise GraphTrialError(f"{dataset.name} has no graph with a node, so that there is nothing to draw")
    figure, axes = new_figure(len(parts), f"{dataset.name}: {drawer.shows}", columns=3, size=(3.1, 3.3))
    for panel, part in zip(axes, parts, strict=True):
        drawer.draw(panel, part)
        panel.set_title(drawer.caption(part))
    return save(figure, path)


def _statistics(dataset: Dataset, path: Path) -> Path:
    drawers = panels(dataset)
    columns = 3 if len(drawers) == 3 else 2
    figure, axes = new_figure(len(drawers), f"{dataset.name}: statistics", columns=columns, size=(4.1, 3.1))
    for panel, draw in zip(axes, drawers, strict=True):
        draw(panel)
    return save(figure, path)
