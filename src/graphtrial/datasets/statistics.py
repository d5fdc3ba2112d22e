"""The statistics a dataset was published with, and whether ours agree with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphtrial.graphs import GraphSet

if TYPE_CHECKING:
    from graphtrial.datasets.base import Split

STANDARD_ERRORS = 4.0
"""How far the mean of a stand-in may lie from the published mean: by chance once in 16,000 cases."""


@dataclass(frozen=True)
class Statistics:
    """Published facts: numbers of graphs, types and classes; mean nodes and directed edges; sizes of one split."""

    graphs: int
    nodes: float
    edges: float
    node_types: int | None = None
    edge_types: int | None = None
    classes: int | None = None
    split: tuple[int, int, int] | None = None


def compare(published: Statistics, graphs: GraphSet, splits: Sequence[Split], exact: bool) -> list[dict[str, Any]]:
    """Return one row per published fact: what, ours, published, agrees, rule.

    Counts must be equal. Means must round to the published digits where the data is exactly the published one, else lie
    within four standard errors of it.
    """
    rows = [
        _row("graphs", len(graphs), published.graphs, len(graphs) == published.graphs, "equal"),
        _mean_row("nodes", graphs.node_counts, published.nodes, exact),
        _mean_row("edges", graphs.edge_counts, published.edges, exact),
    ]
    counts = {
        "node_types": (types_of(graphs, "x"), published.node_types),
        "edge_types": (types_of(graphs, "edge_attr"), published.edge_types),
        "classes": (types_of(graphs, "y"), published.classes),
    }
    rows += [_row(what, o, p, o == p, "equal") for what, (o, p) in counts.items() if p is not None]
    if published.split is not None:
        sizes = sorted({split.sizes for split in splits})
        ours: Any = list(sizes[0]) if len(sizes) == 1 else [list(s) for s in sizes]
        rows.append(_row("split", ours, list(published.split), sizes == [published.split], "equal"))
    return rows


def types_of(graphs: GraphSet, name: str) -> int | None:
    """Return the number of categories of a column, or nothing where it is absent or not categorical."""
    return graphs.columns[name].types if name in graphs.columns else None


def summary(counts: npt.NDArray[Any]) -> dict[str, float]:
    """Return mean, smallest and largest of some counts."""
    return {"mean": round(float(counts.mean()), 4), "min": int(counts.min()), "max": int(counts.max())}


def _mean_row(what: str, counts: npt.NDArray[Any], published: float, exact: bool) -> dict[str, Any]:
    mean = float(counts.mean())
    half_digit = 0.5 * 10.0 ** -len(str(float(published)).partition(".")[2]) + 1e-9
    if exact:
        return _row(what, mean, published, abs(mean - published) <= half_digit, "rounds to the published digits")
    error = float(np.std(counts)) / math.sqrt(len(counts))
    agrees = abs(mean - published) <= STANDARD_ERRORS * error + half_digit
    return _row(what, mean, published, agrees, f"within {STANDARD_ERRORS:g} standard errors of {error:.4f}")


def _row(what: str, ours: Any, published: Any, agrees: bool, rule: str) -> dict[str, Any]:
    ours = round(ours, 4) if isinstance(ours, float) else ours
    return {"what": what, "ours": ours, "published": published, "agrees": bool(agrees), "rule": rule}
