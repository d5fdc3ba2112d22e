"""Node and edge features of TU datasets: attributes, one-hot labels or node degrees.

Benchmarking GNNs takes node attributes where there are some (ENZYMES 18, PROTEINS_full 29) and else labels in one-hot
form (DD 89). The evaluation of TUDataset takes labels, and where there are none the degree: in one-hot form, or as one
standardised number where a node has 1,000 neighbours or more. By default `x` is the first of attributes, labels and
degree that a set has; the others are selected by name.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.tu.reader import compact
from graphtrial.graphs import Column, GraphSet

WIDEST_ONE_HOT = 256
"""Above this number of categories `x` stays categorical, and models learn an embedding."""
LARGEST_DEGREE = 1000


def with_features(graphs: GraphSet, kind: str = "") -> GraphSet:
    """Return the set with the columns `x` and, where edges have attributes or labels, `edge_attr`.

    `kind` is one of `attributes`, `labels`, `degree`, `all`; by default the first available one. Attributes that become
    `x` are removed as a column; labels are retained for graph kernels.
    """
    columns = graphs.columns
    chosen = kind or next(
        name for name, column in (("attributes", "node_attributes"), ("labels", "node_label"), ("degree", "")) if
        not column or (column in columns and _is_feature(columns[column]))
    )  # fmt: skip
    if chosen not in FEATURES:
        raise GraphTrialError(f"no node features called '{chosen}'; there are {', '.join(FEATURES)}")
    result = GraphSet(graphs.structure, columns)
    result.columns["x"] = FEATURES[chosen](graphs)
    if chosen == "attributes":
        del result.columns["node_attributes"]
    edges = result.columns.pop("edge_attributes", None)
    if edges is None and "edge_label" in columns and _is_feature(columns["edge_label"]):
        edges = one_hot(columns["edge_label"])
    if edges is not None:
        result.columns["edge_attr"] = edges
    return result


def one_hot(column: Column) -> Column:
    """One-hot encode a categorical column; unchanged above `WIDEST_ONE_HOT` categories."""
    types = column.types or 0
    labels = column.values.reshape(len(column.values), -1)
    if types > WIDEST_ONE_HOT and labels.shape[1] == 1:
        return column
    widths = [int(part.max(initial=0)) + 1 for part in labels.T]
    wide = [_one_hot_array(part, width) for part, width in zip(labels.T, widths, strict=True)]
    return Column(np.concatenate(wide, axis=1), column.level, f"{column.meaning}, one-hot")


def degree(graphs: GraphSet) -> Column:
    """Return node degrees: one-hot, or above `LARGEST_DEGREE` as one standardised number."""
    counts = np.asarray(graphs.in_degree)
    largest = int(counts.max(initial=0))
    if largest < LARGEST_DEGREE:
        return one_hot(Column(compact(counts, largest + 1), "node", "degree", types=largest + 1))
    std = float(counts.std()) or 1.0
    return Column(
        ((counts - counts.mean()) / std).astype(np.float32)[:, None], "node", "degree, standardised over the set"
    )


def _attributes(graphs: GraphSet) -> Column:
    return _require(graphs, "node_attributes", "attributes")


def _labels(graphs: GraphSet) -> Column:
    return one_hot(_require(graphs, "node_label", "labels"))


def _all(graphs: GraphSet) -> Column:
    attributes = _attributes(graphs)
    labels = _labels(graphs)
    if labels.types is not None:
        raise GraphTrialError(f"the set has {labels.types} node labels, too many to stand beside its attributes")
    values = np.concatenate([attributes.values, labels.values.astype(np.float32)], axis=1)
    return Column(values, "node", "node attributes, then node labels, one-hot")


def _require(graphs: GraphSet, name: str, subject: str) -> Column:
    if name not in graphs.columns or not _is_feature(graphs.columns[name]):
        raise GraphTrialError(f"the nodes of this set have no {subject}; choose other features")
    return graphs.columns[name]


def _is_feature(column: Column) -> bool:
    """Return whether a column is categorical or numeric; labels over time are neither."""
    return column.types is not None or column.values.dtype.kind == "f"


def _one_hot_array(labels: npt.NDArray[np.int64], width: int) -> npt.NDArray[np.uint8]:
    encoded = np.zeros((len(labels), width), np.uint8)
    encoded[np.arange(len(labels)), labels] = 1
    return encoded


FEATURES: dict[str, Callable[[GraphSet], Column]] = {
    "attributes": _attributes,
    "labels": _labels,
    "degree": degree,
    "all": _all,
}
