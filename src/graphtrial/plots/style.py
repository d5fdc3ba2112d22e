"""Figure style and output."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphtrial.core.errors import missing_extra
from graphtrial.core.files import atomic_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colour-blind safe palette of Okabe and Ito (2008), followed by darker and lighter shades.
PALETTE = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a500", "#555555",
    "#003f63", "#8a5f00", "#00563f", "#7d3f63", "#a8daf5", "#f2a477", "#dcd27a", "#bbbbbb",
)  # fmt: skip
INK, FAINT, MAIN, WARM = "#222222", "#c4c4c4", "#0072b2", "#d62728"
SETTINGS: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.0,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "text.color": INK,
    "axes.labelcolor": INK,
    "svg.hashsalt": "graphtrial",  # reproducible element ids
    "svg.fonttype": "none",
}
DOTS_PER_INCH = 150


def colour_of(number: int) -> str:
    """Return the colour of a category; the palette repeats after 16."""
    return PALETTE[number % len(PALETTE)]


@contextmanager
def our_style() -> Iterator[None]:
    """Context manager that replaces the user's matplotlib settings by ours."""
    try:
        import matplotlib
    except ImportError:
        raise missing_extra("data plot", "matplotlib", "plots") from None
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        yield


def new_figure(panels: int, title: str, *, columns: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """Return a figure and its axes: `panels` panels of `size` inches in rows of at most `columns`."""
    from matplotlib.figure import Figure

    across = min(columns, panels)
    down = math.ceil(panels / across)
    figure = Figure(figsize=(across * size[0], down * size[1] + 0.5), layout="constrained")
    figure.get_layout_engine().set(h_pad=0.08, w_pad=0.08)  # type: ignore[union-attr, call-arg]
    figure.suptitle(title, fontsize=12, fontweight="bold")
    grid = list(figure.subplots(down, across, squeeze=False).reshape(-1))
    for panel in grid[panels:]:
        panel.set_axis_off()
    return figure, grid[:panels]


def save(figure: Figure, path: Path) -> Path:
    """Write a figure reproducibly (equal bytes) and atomically."""
    kind = path.suffix[1:]
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format=kind, dpi=DOTS_PER_INCH, metadata=metadata, facecolor="white")
    return path
