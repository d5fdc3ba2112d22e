"""Validation of links that are ranked among candidates: queries of a single graph, or labelled pairs of many graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import InvalidGraphError
from graphtrial.graphs import GraphSet
from graphtrial.graphs.column import PAIR_COUNT, PAIRS, QUERY
from graphtrial.graphs.mask_names import NONE, PART, PARTS

Array = npt.NDArray[Any]


def check_ranked_links(graphs: GraphSet) -> None:
    """Raise an error if the links of a part cannot be ranked: no links, no negatives, or incomplete queries."""
    y = graphs.columns.get("y")
    if PAIRS not in graphs.columns or y is None or y.level != "pair":
        raise InvalidGraphError(
            "link-ranking needs pairs of nodes with a label (1 for a link) and, in a single graph, a query; "
            "--task link-prediction holds out links of a graph by itself"
        )
    check_labels(graphs)
    linked = np.asarray(y.values).reshape(-1) == 1
    if PAIR_COUNT in graphs.columns:
        _check_many(graphs, linked)
    else:
        _check_queries(graphs, linked)


def check_labels(graphs: GraphSet) -> None:
    """Raise an error if a pair of nodes that comes with the data has another label than 0 and 1."""
    y = graphs.columns.get("y")
    if y is not None and y.level == "pair" and not (y.width == 1 and np.isin(y.values, (0, 1)).all()):
        raise InvalidGraphError("the label of a pair is 1 for a link, else 0")


def _check_many(graphs: GraphSet, linked: Array) -> None:
    """Each part needs links, and the training part pairs without one as well: no others are drawn."""
    part = graphs.columns.get(PART)
    if part is not None and part.level != "graph":
        return  # `infer_split_level` has the message
    counts = np.asarray(graphs.column(PAIR_COUNT).values)
    parts = np.zeros(len(graphs), np.uint8) if part is None else np.asarray(part.values)
    for split in parts.reshape(len(graphs), -1).T:
        of_pair = np.repeat(split, counts)
        for number in np.unique(split[split < NONE]):
            if not linked[of_pair == number].any():
                raise InvalidGraphError(f"no graph of the {PARTS[number]} part has a link (label 1) to rank")
        if linked[of_pair == 0].all():
            raise InvalidGraphError("the training graphs have links only: they need pairs of label 0, too")


def _check_queries(graphs: GraphSet, linked: Array) -> None:
    query = graphs.columns.get(QUERY)
    if query is None or query.level != "pair" or query.values.dtype.kind not in "iu" or query.width != 1:
        raise InvalidGraphError(
            f"links of a single graph are ranked within queries: a column '{QUERY}' with one integer per pair is needed"
        )
    part = graphs.columns.get(PART)
    if part is None or part.level != "pair":
        return  # `infer_split_level` has the message
    numbers = np.asarray(query.values).reshape(-1)
    for split in np.asarray(part.values).reshape(len(numbers), -1).T:
        if not linked[split == 0].any():
            raise InvalidGraphError("the train part has no link (label 1)")
        for number in (1, 2):
            _check_part(numbers[split == number], linked[split == number], PARTS[number])


def _check_part(query: Array, linked: Array, part: str) -> None:
    """Each query of a part needs a link and a negative pair."""
    if not len(query):
        raise InvalidGraphError(f"the {part} part has no pairs")
    distinct, index = np.unique(query, return_inverse=True)
    for label, subject in ((linked, "link (label 1)"), (~linked, "negative pair (label 0)")):
        counts = np.bincount(index, label)
        if not counts.all():
            raise InvalidGraphError(f"query {distinct[np.argmin(counts)]} of the {part} part has no {subject}")
