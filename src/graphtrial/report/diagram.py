"""The critical-difference diagram of Demsar 2006 (Statistical comparisons of classifiers over multiple data sets)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from graphtrial.core.errors import GraphTrialError
from graphtrial.plots.style import INK, MAIN, our_style, save
from graphtrial.results.statistics.ranks import Ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".svg", ".png")
SCALE, ROW, LETTER = 3.2, 0.24, 0.079
"""Length of the axis, height of a line of text and width of a letter, in inches."""
TICK = 0.12


def draw_ranks(ranks: Ranks, path: Path) -> Path:
    """Plot mean ranks on an axis, best at the left, with bars over models within the critical difference (svg, png)."""
    if path.suffix not in FORMATS:
        raise GraphTrialError(f"the diagram is written as {' or '.join(FORMATS)}, not as '{path.name}'")
    with our_style():
        from matplotlib.figure import Figure

        left = math.ceil(len(ranks.models) / 2)
        bars = ROW * (len(ranks.groups) + 1)
        height = 1.0 + bars + ROW * (left + 1)
        width = SCALE + 2 * _side(ranks)
        figure = Figure(figsize=(width, height))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(0, width)
        axes.set_ylim(-(bars + ROW * (left + 1)), 1.0)
        axes.set_axis_off()
        _scale(axes, ranks)
        _bars(axes, ranks)
        _labels(axes, ranks, left, -bars)
        return save(figure, path)


def _x(ranks: Ranks, rank: float) -> float:
    """Return the x coordinate of a rank."""
    return _side(ranks) + (rank - 1) / (len(ranks.models) - 1) * SCALE


def _side(ranks: Ranks) -> float:
    """Return the width of names and ranks on either side of the axis."""
    return 0.8 + LETTER * max(len(model) for model in ranks.models)


def _scale(axes: Axes, ranks: Ranks) -> None:
    first, last = _x(ranks, 1), _x(ranks, len(ranks.models))
    axes.plot([first, last], [0, 0], color=INK, linewidth=1)
    for rank in range(1, len(ranks.models) + 1):
        axes.plot([_x(ranks, rank)] * 2, [0, TICK], color=INK, linewidth=1)
        axes.text(_x(ranks, rank), TICK + 0.04, str(rank), ha="center", va="bottom")
    end = min(_x(ranks, 1 + ranks.critical_difference), last + _side(ranks) - 0.1)
    axes.plot([first, end], [0.62, 0.62], color=INK, linewidth=1)
    for x in (first, end):
        axes.plot([x, x], [0.57, 0.67], color=INK, linewidth=1)
    label = f"critical difference {ranks.critical_difference:.2f}, {len(ranks.datasets)} datasets"
    axes.text(first, 0.7, label, ha="left", va="bottom")


def _bars(axes: Axes, ranks: Ranks) -> None:
    for number, group in enumerate(ranks.groups):
        ends = (_x(ranks, ranks.mean_ranks[group[0]]) - 0.05, _x(ranks, ranks.mean_ranks[group[-1]]) + 0.05)
        axes.plot(ends, [-ROW * (number + 0.7)] * 2, color=MAIN, linewidth=3.5, solid_capstyle="round")


def _labels(axes: Axes, ranks: Ranks, left: int, top: float) -> None:
    """Label the better half at the left and the others at the right, so that no two lines cross."""
    for place, (model, rank) in enumerate(zip(ranks.models, ranks.mean_ranks, strict=True)):
        at_left = place < left
        depth = place if at_left else len(ranks.models) - 1 - place
        y, x = top - ROW * (depth + 0.5), _x(ranks, rank)
        edge = _x(ranks, 1) - 0.15 if at_left else _x(ranks, len(ranks.models)) + 0.15
        axes.plot([x, x, edge], [0, y, y], color=INK, linewidth=0.8)
        text = f"{model}  {rank:.2f}" if at_left else f"{rank:.2f}  {model}"
        axes.text(
            edge - 0.06 if at_left else edge + 0.06, y, _plain(text), ha="right" if at_left else "left", va="center"
        )


def _plain(text: str) -> str:
    """Escape names, which are not formulas."""
    return text.replace("$", r"\$")
