"""Published statistics of datasets and their comparison with the data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphtrial.graphs import GraphSet

if TYPE_CHECKING:
    from graphtrial.datasets.base import Split

SELF_LOOPS = "self_loops"
"""Graph column with the number of self-loops removed when the file was read."""
STANDARD_ERRORS = 4.0
"""Tolerance of the mean of a stand-in; exceeded by chance with probability 1 / 16,000."""


@dataclass(frozen=True)
class Difference:
    """Documented difference from a published statistic: the expected value and the reason."""

    expected: float
    reason: str


@dataclass(frozen=True)
class Statistics:
    """Published statistics: numbers of graphs, types and classes; mean nodes and edges; split sizes.

    `edges` are directed edges, or undirected ones with `undirected`. `features` is the number of features of `x`.
    `differences` documents the statistics in which data and publication differ. With `binding=False` the publication is
    less reliable than the data, and an undocumented difference is reported, but is not an error. Generated graphs that
    share a random draw are not independent: `grouped_by` is the graph column that identifies such groups.
    """

    graphs: int
    nodes: float
    edges: float
    node_types: int | None = None
    edge_types: int | None = None
    classes: int | None = None
    split: tuple[int, int, int] | None = None
    features: int | None = None
    undirected: bool = False
    differences: Mapping[str, Difference] = field(default_factory=dict)
    binding: bool = True
    grouped_by: str | None = None


def compare(published: Statistics, graphs: GraphSet, splits: Sequence[Split], exact: bool) -> list[dict[str, Any]]:
    """Return one row per published statistic: `what`, `ours`, `published`, `agrees`, `rule`, `reason`.

    Counts must be equal. Means must round to the published digits if the source is `exact`, else lie within four
    standard errors. A documented difference is compared with its expected value, and edges with and without the
    removed self-loops.
    """
    edges = link_counts(graphs) if published.undirected else graphs.edge_counts
    differences = published.differences
    groups = graphs.column(published.grouped_by).values if published.grouped_by else None
    rows = [
        _count_row("graphs", len(graphs), published.graphs, differences),
        _mean_row("nodes", graphs.node_counts, published.nodes, exact, differences, groups),
        _edges_row(graphs, edges, published.edges, exact, differences, groups),
    ]
    counts = {
        "node_types": (types_of(graphs, "x"), published.node_types),
        "edge_types": (types_of(graphs, "edge_attr"), published.edge_types),
        "classes": (types_of(graphs, "y"), published.classes),
        "features": (graphs.columns["x"].width if "x" in graphs.columns else None, published.features),
    }
    rows += [
        _count_row(w, measured, value, differences) for w, (measured, value) in counts.items() if value is not None
    ]
    if published.split is not None:
        sizes = sorted({split.sizes for split in splits})
        measured: Any = list(sizes[0]) if len(sizes) == 1 else [list(s) for s in sizes]
        rows.append(_row("split", measured, list(published.split), sizes == [published.split], "equal"))
    return rows


def link_counts(graphs: GraphSet) -> npt.NDArray[Any]:
    """Return the number of undirected edges of each graph, self-loops included."""
    graph = np.repeat(np.arange(len(graphs)), graphs.edge_counts)
    loops = np.bincount(graph[graphs.edge_index[0] == graphs.edge_index[1]], minlength=len(graphs))
    counts: npt.NDArray[Any] = (graphs.edge_counts + loops) / 2
    return counts


def types_of(graphs: GraphSet, name: str) -> int | None:
    """Return the number of categories of a column, None if it is missing or not categorical."""
    return graphs.columns[name].types if name in graphs.columns else None


def summary(counts: npt.NDArray[Any]) -> dict[str, float]:
    """Return mean, minimum and maximum."""
    return {"mean": round(float(counts.mean()), 4), "min": int(counts.min()), "max": int(counts.max())}


def _count_row(statistic: str, measured: Any, published: int, differences: Mapping[str, Difference]) -> dict[str, Any]:
    if statistic in differences and measured != published:
        return _explained_row(
            statistic, measured, published, differences[statistic], measured == differences[statistic].expected, "equal"
        )
    return _row(statistic, measured, published, measured == published, "equal")


def _mean_row(
    statistic: str,
    counts: npt.NDArray[Any],
    published: float,
    exact: bool,
    differences: Mapping[str, Difference],
    groups: npt.NDArray[Any] | None,
) -> dict[str, Any]:
    mean = float(counts.mean())
    error = 0.0 if exact else standard_error(counts, groups)
    rule = "rounds to the published digits" if exact else f"within {STANDARD_ERRORS:g} standard errors of {error:.4f}"
    if statistic in differences and not _near(mean, published, error):
        agrees = _near(mean, differences[statistic].expected, error)
        return _explained_row(statistic, mean, published, differences[statistic], agrees, rule)
    return _row(statistic, mean, published, _near(mean, published, error), rule)


def _edges_row(
    graphs: GraphSet,
    edges: npt.NDArray[Any],
    published: float,
    exact: bool,
    differences: Mapping[str, Difference],
    groups: npt.NDArray[Any] | None,
) -> dict[str, Any]:
    row = _mean_row("edges", edges, published, exact, differences, groups)
    loops = graphs.columns.get(SELF_LOOPS)
    if row["agrees"] or loops is None:
        return row
    for weight in (1.0, 0.5):  # some tables count each line of the file as half an edge, self-loops included
        if _near(float((edges + weight * loops.values).mean()), published, 0.0):
            reason = f"the published number counts the file's {int(loops.values.sum()):,} self-loops, left out here"
            return row | {"agrees": True, "rule": "rounds to the published digits with self-loops", "reason": reason}
    return row


def standard_error(counts: npt.NDArray[Any], groups: npt.NDArray[Any] | None = None) -> float:
    """Return the standard error of the mean; with `groups`, that of the group means."""
    samples = counts if groups is None else np.bincount(groups, counts) / np.bincount(groups)
    return float(np.std(samples)) / math.sqrt(len(samples))


def _near(mean: float, published: float, error: float) -> bool:
    half_digit = 0.5 * 10.0 ** -len(str(float(published)).partition(".")[2]) + 1e-9
    return abs(mean - published) <= STANDARD_ERRORS * error + half_digit


def _explained_row(
    statistic: str, measured: Any, published: Any, difference: Difference, agrees: bool, rule: str
) -> dict[str, Any]:
    row = _row(statistic, measured, published, agrees, f"{rule}, known to be {difference.expected:g} instead")
    return row | {"reason": difference.reason}


def _row(statistic: str, measured: Any, published: Any, agrees: bool, rule: str) -> dict[str, Any]:
    measured = round(measured, 4) if isinstance(measured, float) else measured
    if not agrees:
        rule = rule.replace("rounds", "must round", 1) if "rounds" in rule else f"must be {rule}"
    return {"what": statistic, "ours": measured, "published": published, "agrees": bool(agrees), "rule": rule}


def label_counts(graphs: GraphSet) -> dict[str, int] | None:
    """Return the number of labels in the columns of `y` and how many are missing; None where none can be."""
    y = graphs.columns.get("y")
    if y is None or y.values.dtype.kind != "f" or not (missing := int(np.isnan(y.values).sum())):
        return None
    return {"present": y.values.size - missing, "missing": missing}
