"""A saved graph set, as `GraphSet.save` writes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from graphtrial.graphs import Column, GraphSet


def read(paths: list[Path]) -> GraphSet:
    """Open a saved set, verify every byte of it, and check it as if it had just been built."""
    opened = GraphSet.open(paths[0].parent)
    columns = dict(opened.columns)
    y = columns.get("y")
    whole = y is not None and y.types is None and y.values.dtype.kind in "iu" and y.width == 1
    if y is not None and whole and (not y.values.size or y.values.min() >= 0):
        flat = np.asarray(y.values).reshape(-1)
        columns["y"] = Column(flat, y.level, y.meaning or "class", types=int(flat.max(initial=0)) + 1)
    if "x" not in columns:
        ones = np.ones(opened.num_nodes, np.float32)
        columns["x"] = Column(ones, "node", "constant, because none was given")
    return GraphSet.build(opened.node_counts, opened.edge_counts, opened.edge_index, columns)
