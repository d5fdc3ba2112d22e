"""Importer of graph sets saved by `GraphSet.save`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from graphtrial.core.errors import InvalidGraphError
from graphtrial.graphs import Column, GraphSet
from graphtrial.graphs.mask_names import PART, parse_mask_name
from graphtrial.graphs.masks import part_column


def read(paths: list[Path]) -> GraphSet:
    """Open a saved set, verify its hashes and validate it as if newly built."""
    opened = GraphSet.open(paths[0].parent)
    columns = _with_part(opened)
    y = columns.get("y")
    whole = y is not None and y.types is None and y.values.dtype.kind in "iu" and y.width == 1
    if y is not None and whole and (not y.values.size or y.values.min() >= 0):
        flat = np.asarray(y.values).reshape(-1)
        columns["y"] = Column(flat, y.level, y.meaning or "class", types=int(flat.max(initial=0)) + 1)
    if "x" not in columns:
        ones = np.ones(opened.num_nodes, np.float32)
        columns["x"] = Column(ones, "node", "constant, because none was given")
    return GraphSet.build(opened.node_counts, opened.edge_counts, opened.edge_index, columns)


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
