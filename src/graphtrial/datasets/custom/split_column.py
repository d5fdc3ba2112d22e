"""Splits given by the column `part` of a custom dataset."""

from __future__ import annotations

import numpy as np

from graphtrial.core.errors import GraphTrialError, InvalidGraphError
from graphtrial.datasets import splits
from graphtrial.datasets.base import Split, SplitLevel
from graphtrial.graphs import Column, GraphSet
from graphtrial.graphs.mask_names import PART, PARTS


def normalize_split_column(graphs: GraphSet) -> GraphSet:
    """Validate the column `part`, if any, and reduce it to graph level where possible.

    In a set of several graphs, node or edge masks that are constant within each graph become graph masks.
    """
    part = graphs.columns.get(PART)
    if part is None:
        return graphs
    values = np.asarray(part.values)
    if values.dtype.kind not in "iu" or values.ndim > 2 or (values.size and values.max() >= len(PARTS)):
        raise InvalidGraphError(
            f"the column '{PART}' encodes train, val, test or none as 0 to {len(PARTS) - 1}, [rows] or [rows, splits]; "
            "rename it if it means anything else"
        )
    if len(graphs) == 1 or part.level not in ("node", "edge"):
        return graphs
    pointers = graphs.node_ptr if part.level == "node" else graphs.edge_ptr
    first = np.asarray(pointers[:-1], np.int64)
    counts = np.diff(pointers)
    if not counts.all() or (values != np.repeat(values[first], counts, axis=0)).any():
        raise InvalidGraphError(
            f"the split divides the {part.level}s within {len(graphs)} graphs; that is for a single graph only. Of "
            "several each belongs to one part as a whole: name it by `split`, or leave the masks out"
        )
    return graphs.with_column(PART, Column(values[first], "graph", part.meaning, part.types))


def infer_split_level(graphs: GraphSet) -> SplitLevel:
    """Return the split level: graphs, or for a single graph the level of its targets."""
    target = graphs.column("y").level
    level: SplitLevel = target if len(graphs) == 1 and target in ("node", "edge", "pair") else "graph"
    part = graphs.columns.get(PART)
    if part is not None and part.level != level:
        raise GraphTrialError(
            f"the split that comes with the data divides {part.level}s, but the targets `y` are of {target}s of "
            f"{len(graphs)} graphs, so that {level}s are to be divided; correct one of the two"
        )
    if part is None and level == "pair":
        raise GraphTrialError("the pairs that come with the data need a split: a column `part` with one value per pair")
    if part is None and level == "edge":
        raise GraphTrialError(
            "the edges of a single graph are not divided at random, because both directions of a link may land in "
            "different parts: name their split by train_mask, val_mask and test_mask, or by `split`"
        )
    return level


def splits_from_column(graphs: GraphSet) -> list[Split]:
    """Return the splits encoded in the column `part`, one per column."""
    parts = np.asarray(graphs.column(PART).values)
    return [splits.split_from_parts(part) for part in parts.reshape(len(parts), -1).T]
