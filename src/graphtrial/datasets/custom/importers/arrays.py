"""A saved graph set, as `GraphSet.save` writes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from graphtrial.core.errors import InvalidGraphError
from graphtrial.graphs import Column, GraphSet
from graphtrial.graphs.mask_names import PART, parse_mask_name
from graphtrial.graphs.masks import part_column


def read(paths: list[Path]) -> GraphSet:
    """Open a saved set, verify every byte of it, and check it as if it had just been built."""
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
    """Return the columns of a set, those that are masks as the column `part`."""
    named = [name for name in graphs.columns if parse_mask_name(name)]
    columns = {name: column for name, column in graphs.columns.items() if name not in named}
    if named and PART in columns:
        raise InvalidGraphError(f"the split is named twice, by '{PART}' and by '{named[0]}'; keep one way to name it")
    pointers = {"node": graphs.node_ptr, "edge": graphs.edge_ptr, "graph": np.arange(len(graphs) + 1)}
    given = {
        name: np.split(np.asarray(column.values), np.asarray(pointers.get(column.level, [0, 0]))[1:-1])
        for name, column in graphs.columns.items()
        if name in named
    }
    target = columns["y"].level if "y" in columns else None
    part = part_column(given, graphs.node_counts, graphs.edge_counts, target)
    return columns if part is None else {**columns, PART: part}
