"""Importer of graph sets saved by `GraphSet.save`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from graphtrial.core.errors import InvalidGraphError
from graphtrial.graphs import Column, GraphSet
from graphtrial.graphs.mask_names import PART, parse_mask_name
from graphtrial.graphs.masks import part_column

MOST_CATEGORICAL = 16
"""Integer features with more columns are counts or indicators, not categories."""


def read(paths: list[Path]) -> GraphSet:
    """Open a saved set, verify its hashes and validate it as if newly built."""
    return completed(GraphSet.open(paths[0].parent))


def completed(graphs: GraphSet) -> GraphSet:
    """Merge masks into the column `part`, make classes of whole targets, and add a constant `x` if there is none."""
    columns = _with_part(graphs)
    y = columns.get("y")
    whole = y is not None and y.types is None and y.values.dtype.kind in "iu" and y.width == 1
    if y is not None and whole and (not y.values.size or y.values.min() >= 0):
        flat = np.asarray(y.values).reshape(-1)
        columns["y"] = Column(flat, y.level, y.meaning or "class", types=int(flat.max(initial=0)) + 1)
    for name in ("x", "edge_attr"):
        column = columns.get(name)
        if column is not None and column.types is not None and column.width > MOST_CATEGORICAL:
            columns[name] = Column(np.asarray(column.values, np.float32), column.level, column.meaning)
    if "x" not in columns:
        ones = np.ones(graphs.num_nodes, np.float32)
        columns["x"] = Column(ones, "node", "constant, because none was given")
    return GraphSet.build(graphs.node_counts, graphs.edge_counts, graphs.edge_index, columns)


def _with_part(graphs: GraphSet) -> dict[str, Column]:
    """Return the columns, with mask columns merged into the column `part`."""
    mask_names = [name for name in graphs.columns if parse_mask_name(name)]
    columns = {name: column for name, column in graphs.columns.items() if name not in mask_names}
    if mask_names and PART in columns:
        raise InvalidGraphError(
            f"the split is named twice, by '{PART}' and by '{mask_names[0]}'; keep one way to name it"
        )
    pointers = {"node": graphs.node_ptr, "edge": graphs.edge_ptr, "graph": np.arange(len(graphs) + 1)}
    masks = {
        name: np.split(np.asarray(column.values), np.asarray(pointers.get(column.level, [0, 0]))[1:-1])
        for name, column in graphs.columns.items()
        if name in mask_names
    }
    target = columns["y"].level if "y" in columns else None
    part = part_column(masks, graphs.node_counts, graphs.edge_counts, target)
    return columns if part is None else {**columns, PART: part}
