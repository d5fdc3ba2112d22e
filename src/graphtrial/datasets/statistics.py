"""The statistics a dataset was published with, and whether ours agree with them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from graphtrial.graphs import GraphSet

if TYPE_CHECKING:
    from graphtrial.datasets.base import Split

SELF_LOOPS = "self_loops"
"""The graph column that says how many self-loops were left out when a file was read."""
STANDARD_ERRORS = 4.0
"""How far the mean of a stand-in may lie from the published mean: by chance once in 16,000 cases."""


@dataclass(frozen=True)
class Difference:
    """A known difference: what ours must be instead of the published number, and why; anything else is an error."""

    ours: float
    why: str


@dataclass(frozen=True)
class Statistics:
    """Published facts: numbers of graphs, types and classes; mean nodes and edges; sizes of one split.

    `edges` counts both directions of a link, or with `links="once"` each link once. `features` is the width of `x`.
    `known` holds the facts in which the data and its publication differ. Where the publication is less certain than
    the data (`binding` is false), an unknown difference is told but does not make the data wrong. Generated graphs that
    share a random draw are no independent samples: `grouped_by` names the graph column that says which do.
    """

    graphs: int
    nodes: float
    edges: float
    node_types: int | None = None
    edge_types: int | None = None
    classes: int | None = None
    split: tuple[int, int, int] | None = None
    features: int | None = None
    links: Literal["both ways", "once"] = "both ways"
    known: Mapping[str, Difference] = field(default_factory=dict)
    binding: bool = True
    grouped_by: str | None = None


def compare(published: Statistics, graphs: GraphSet, splits: Sequence[Split], exact: bool) -> list[dict[str, Any]]:
    """Return one row per published fact: what, ours, published, agrees, rule, and a reason where they differ.

    Counts must be equal. Means must round to the published digits where the data is exactly the published one, else lie
    within four standard errors of it. Where they are known to differ, the same rule is applied to what ours must be,
    and where self-loops were left out, to what ours would be with them.
    """
    edges = link_counts(graphs) if published.links == "once" else graphs.edge_counts
    known = published.known
    groups = graphs.column(published.grouped_by).values if published.grouped_by else None
    rows = [
        _count_row("graphs", len(graphs), published.graphs, known),
        _mean_row("nodes", graphs.node_counts, published.nodes, exact, known, groups),
        _edges_row(graphs, edges, published.edges, exact, known, groups),
    ]
    counts = {
        "node_types": (types_of(graphs, "x"), published.node_types),
        "edge_types": (types_of(graphs, "edge_attr"), published.edge_types),
        "classes": (types_of(graphs, "y"), published.classes),
        "features": (graphs.columns["x"].width if "x" in graphs.columns else None, published.features),
    }
    rows += [_count_row(what, ours, there, known) for what, (ours, there) in counts.items() if there is not None]
    if published.split is not None:
        sizes = sorted({split.sizes for split in splits})
        ours: Any = list(sizes[0]) if len(sizes) == 1 else [list(s) for s in sizes]
        rows.append(_row("split", ours, list(published.split), sizes == [published.split], "equal"))
    return rows


def link_counts(graphs: GraphSet) -> npt.NDArray[Any]:
    """Return the links of each graph, counted once: half of its edges, which go both ways, and its self-loops."""
    graph = np.repeat(np.arange(len(graphs)), graphs.edge_counts)
    loops = np.bincount(graph[graphs.edge_index[0] == graphs.edge_index[1]], minlength=len(graphs))
    counts: npt.NDArray[Any] = (graphs.edge_counts + loops) / 2
    return counts


def types_of(graphs: GraphSet, name: str) -> int | None:
    """Return the number of categories of a column, or nothing where it is absent or not categorical."""
    return graphs.columns[name].types if name in graphs.columns else None


def summary(counts: npt.NDArray[Any]) -> dict[str, float]:
    """Return mean, smallest and largest of some counts."""
    return {"mean": round(float(counts.mean()), 4), "min": int(counts.min()), "max": int(counts.max())}


def _count_row(what: str, ours: Any, published: int, known: Mapping[str, Difference]) -> dict[str, Any]:
    if what in known and ours != published:
        return _known_row(what, ours, published, known[what], ours == known[what].ours, "equal")
    return _row(what, ours, published, ours == published, "equal")


def _mean_row(
    what: str,
    counts: npt.NDArray[Any],
    published: float,
    exact: bool,
    known: Mapping[str, Difference],
    groups: npt.NDArray[Any] | None,
) -> dict[str, Any]:
    mean = float(counts.mean())
    error = 0.0 if exact else standard_error(counts, groups)
    rule = "rounds to the published digits" if exact else f"within {STANDARD_ERRORS:g} standard errors of {error:.4f}"
    if what in known and not _near(mean, published, error):
        return _known_row(what, mean, published, known[what], _near(mean, known[what].ours, error), rule)
    return _row(what, mean, published, _near(mean, published, error), rule)


def _edges_row(
    graphs: GraphSet,
    edges: npt.NDArray[Any],
    published: float,
    exact: bool,
    known: Mapping[str, Difference],
    groups: npt.NDArray[Any] | None,
) -> dict[str, Any]:
    row = _mean_row("edges", edges, published, exact, known, groups)
    loops = graphs.columns.get(SELF_LOOPS)
    if row["agrees"] or loops is None:
        return row
    for share in (1.0, 0.5):  # a table may count a line of the file as half a link, a self-loop too
        if _near(float((edges + share * loops.values).mean()), published, 0.0):
            why = f"the published number counts the file's {int(loops.values.sum()):,} self-loops, left out here"
            return row | {"agrees": True, "rule": "rounds to the published digits with self-loops", "reason": why}
    return row


def standard_error(counts: npt.NDArray[Any], groups: npt.NDArray[Any] | None = None) -> float:
    """Return the standard error of the mean; the counts of one of the `groups` are no more than one sample."""
    samples = counts if groups is None else np.bincount(groups, counts) / np.bincount(groups)
    return float(np.std(samples)) / math.sqrt(len(samples))


def _near(mean: float, published: float, error: float) -> bool:
    half_digit = 0.5 * 10.0 ** -len(str(float(published)).partition(".")[2]) + 1e-9
    return abs(mean - published) <= STANDARD_ERRORS * error + half_digit


def _known_row(what: str, ours: Any, published: Any, known: Difference, agrees: bool, rule: str) -> dict[str, Any]:
    row = _row(what, ours, published, agrees, f"{rule}, known to be {known.ours:g} instead")
    return row | {"reason": known.why}


def _row(what: str, ours: Any, published: Any, agrees: bool, rule: str) -> dict[str, Any]:
    ours = round(ours, 4) if isinstance(ours, float) else ours
    if not agrees:
        rule = rule.replace("rounds", "must round", 1) if "rounds" in rule else f"must be {rule}"
    return {"what": what, "ours": ours, "published": published, "agrees": bool(agrees), "rule": rule}
