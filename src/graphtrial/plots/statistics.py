"""Statistics panels of a dataset: sizes, degrees, class balance, targets, homophily."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphtrial.datasets import Dataset
from graphtrial.datasets.graph_statistics import node_homophily
from graphtrial.plots.drawers.base import class_name
from graphtrial.plots.style import INK, MAIN, WARM, colour_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = npt.NDArray[Any]
Panel = Callable[["Axes"], None]
BINS = 40
MOST_CLASSES = 30


def panels(dataset: Dataset) -> list[Panel]:
    """Return the panels that apply to this dataset."""
    graphs, figures = dataset.graphs, []
    if len(graphs) > 1:
        figures.append(lambda axes: sizes(axes, graphs.node_counts, "nodes per graph"))
        figures.append(lambda axes: sizes(axes, graphs.edge_counts, "directed edges per graph"))
    else:
        figures.append(lambda axes: degrees(axes, np.asarray(graphs.in_degree)))
    y = graphs.columns.get("y")
    if y is not None and (y.types is not None or y.level in ("edge", "pair")):
        figures.append(lambda axes: balance(axes, dataset))
    elif y is not None:
        figures.append(lambda axes: targets(axes, np.asarray(y.values).reshape(len(y.values), -1), y.meaning))
    if y is not None and y.level == "node" and y.types is not None and graphs.num_edges:
        figures.append(lambda axes: homophily(axes, node_homophily(graphs)))
    return figures


def sizes(axes: Axes, counts: Array, subject: str) -> None:
    """Histogram of sizes, with the mean."""
    low, high, mean = int(counts.min()), int(counts.max()), float(counts.mean())
    axes.set_xlabel(subject)
    axes.set_ylabel("graphs")
    if low == high:
        axes.bar([low], [len(counts)], width=0.6, color=MAIN)
        axes.set_xlim(low - 3, high + 3)
        axes.set_title(f"all {len(counts):,} graphs have {low:,}")
        return
    shown = high
    if (most := int(np.quantile(counts, 0.99))) * 2 < high:  # cut off outliers
        shown = most
        axes.set_xlabel(f"{subject}; {np.count_nonzero(counts > shown):,} larger ones are not shown")
    step = max(1, -(-(shown - low + 1) // BINS))
    bins = (np.arange(low, shown + step + 1, step) - 0.5).tolist()
    axes.hist(counts, bins=bins, color=MAIN, edgecolor="white", linewidth=0.4)
    axes.axvline(mean, color=WARM, linewidth=1.2)
    axes.set_title(f"{low:,} to {high:,}, mean {mean:,.2f} (red)")
    axes.locator_params(integer=True)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,.0f}")


def degrees(axes: Axes, degree: Array) -> None:
    """Degree distribution on log-log axes."""
    positive = degree[degree > 0]
    if len(positive):
        edges = np.unique(np.geomspace(1, max(int(positive.max()), 2) + 1, 30).round()).tolist()
        axes.hist(positive, bins=edges, color=MAIN)
        axes.set_xscale("log")
        axes.set_yscale("log")
    axes.set_xlabel("edges that lead to a node")
    axes.set_ylabel("nodes")
    axes.set_title(f"{len(degree):,} nodes, mean {degree.mean():.2f}, most {degree.max():,}, none {sum(degree == 0):,}")


def balance(axes: Axes, dataset: Dataset) -> None:
    """Class balance as a bar chart."""
    y = dataset.graphs.columns["y"]
    labels = np.asarray(y.values).reshape(-1).astype(np.int64)
    counts = np.bincount(labels - min(labels.min(), 0), minlength=y.types or 2)
    fractions = 100 * counts / counts.sum()
    several = len(counts) <= 16
    axes.bar(np.arange(len(counts)), fractions, color=[colour_of(i) for i in range(len(counts))] if several else MAIN)
    axes.set_ylabel(f"fraction of {y.level}s (%)")
    axes.set_xlabel("class")
    if len(counts) <= MOST_CLASSES:
        names = [class_name(dataset, i) for i in range(len(counts))]
        rotated = max(map(len, names)) > 2 and len(names) > 5
        axes.set_xticks(
            np.arange(len(counts)), names, rotation=45 if rotated else 0, ha="right" if rotated else "center"
        )
    axes.set_title(f"{len(counts)} classes of {len(labels):,} {y.level}s")


def targets(axes: Axes, values: Array, meaning: str) -> None:
    """Histogram of one target, or box plots of several."""
    axes.set_xlabel(_short(meaning))
    if values.shape[1] == 1:
        axes.hist(values[:, 0], bins=60, color=MAIN)
        axes.set_ylabel("graphs" if len(values) > 1 else "")
        mean = f"{values.mean():.3g}".replace("-", "\N{MINUS SIGN}")
        axes.set_title(f"target: mean {mean}, standard deviation {values.std():.3g}")
        return
    axes.boxplot(
        values, showfliers=False, patch_artist=True, medianprops={"color": WARM}, boxprops={"facecolor": "#cfe3f1"}
    )
    axes.set_xlabel("target")
    axes.set_ylabel("value")
    axes.set_title(f"{values.shape[1]} targets: median, quartiles, 1.5 quartile ranges")


def homophily(axes: Axes, fractions: Array) -> None:
    """Histogram of node homophily: the fraction of neighbours of the same class (Wiki-CS, figure 2)."""
    weights = np.full(len(fractions), 100 / max(len(fractions), 1))
    axes.hist(fractions, bins=np.linspace(0, 1, 21).tolist(), weights=weights, color=MAIN)
    axes.set_xlim(0, 1)
    axes.set_xlabel("fraction of neighbours of the same class")
    axes.set_ylabel("fraction of nodes (%)")
    mean = float(fractions.mean()) if len(fractions) else 0.0
    axes.axvline(mean, color=WARM, linewidth=1.2)
    axes.set_title(f"neighbours agree: mean {mean:.2f} (red)", color=INK)


def _short(text: str) -> str:
    return text if len(text) <= 48 else f"{text[:47]}…"
