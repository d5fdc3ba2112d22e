"""Graphs as rows of the `graphs-datasets` layout of the Hugging Face hub.

| column | value |
|---|---|
| `edge_index` | two lists, sources and targets |
| `num_nodes` | number of nodes |
| `node_feat`, `edge_attr` | optional: a list of numbers per node or edge |
| `y` | target: a number or a list, by its length of the graph, of its nodes or of its edges, as in PyG |
| `split`, `train_mask`, ... | optional: the split, see `graphs.mask_names` |
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from graphtrial.core.errors import CorruptFileError, InvalidGraphError, did_you_mean, short_repr
from graphtrial.datasets.custom.importers import check_size
from graphtrial.datasets.custom.importers.arrays import completed
from graphtrial.graphs import GraphSet, from_pyg
from graphtrial.graphs.mask_names import parse_mask_name

NAMES = {"node_feat": "x", "x": "x", "edge_attr": "edge_attr", "y": "y", "pos": "pos", "edge_time": "edge_time"}
STRUCTURE = ("edge_index", "num_nodes")


class _Item(dict[str, Any]):
    """Dictionary with the attributes of PyG's `Data` that `from_pyg` reads."""

    edge_index: torch.Tensor
    num_nodes: int


def graphs_from_rows(rows: Iterable[tuple[str, Any]]) -> GraphSet:
    """Build a graph set from pairs of location, such as "train.parquet, row 3", and row."""
    items, total = [], 0
    subject = ""
    for where, row in rows:
        items.append(_item(where, row))
        total += items[-1].num_nodes
        check_size(total, f"up to {where}, the file")
        subject = subject or where.rpartition(",")[0]
        if items[-1].keys() != items[0].keys():
            name = sorted(items[-1].keys() ^ items[0].keys())[0]
            raise CorruptFileError(f"{where}: '{name}' is in some rows but not in all")
    if not items:
        raise CorruptFileError("the Parquet file holds no graphs")
    try:
        return completed(from_pyg(items))
    except InvalidGraphError as error:
        raise CorruptFileError(f"{subject}: {error}") from error


def _item(where: str, row: dict[str, Any]) -> _Item:
    try:
        masks = {name: value for name, value in row.items() if value is not None and parse_mask_name(name)}
    except InvalidGraphError as error:
        raise CorruptFileError(f"{where}: {error}") from error
    unknown = [name for name in row if name not in (*NAMES, *STRUCTURE, *masks) and row[name] is not None]
    if unknown:
        raise CorruptFileError(f"{where}: '{unknown[0]}' is not known.{did_you_mean(unknown[0], [*NAMES, *STRUCTURE])}")
    edges = _array(where, "edge_index", row.get("edge_index"))
    if not edges.size:
        edges = np.zeros((2, 0), np.int64)
    if edges.ndim != 2 or len(edges) != 2 or edges.dtype.kind not in "iu":
        raise CorruptFileError(f"{where}: 'edge_index' must be two lists of node indices, not of shape {edges.shape}")
    nodes = row.get("num_nodes")
    if isinstance(nodes, bool) or not isinstance(nodes, int) or nodes < 0:
        raise CorruptFileError(f"{where}: 'num_nodes' must be the number of nodes, not {short_repr(nodes, 37)}")
    check_size(nodes, where)
    if edges.size and (edges.min() < 0 or edges.max() >= nodes):
        raise CorruptFileError(f"{where}: 'edge_index' leaves the {nodes} nodes, which are numbered from 0")
    item = _Item(masks)
    counts = {"x": nodes, "edge_attr": edges.shape[1]}
    for name, value in row.items():
        if name in NAMES and value is not None:
            values = _array(where, name, value)
            if len(values) != counts.get(NAMES[name], len(values)):
                raise CorruptFileError(f"{where}: '{name}' has {len(values)} rows, not {counts[NAMES[name]]}")
            single = NAMES[name] in counts and values.ndim == 2 and values.shape[1] == 1
            item[NAMES[name]] = torch.from_numpy(values[:, 0] if single else values)
    item.edge_index, item.num_nodes = torch.from_numpy(edges), nodes
    return item


def _array(where: str, name: str, value: Any) -> Any:
    """Return a list as an array of integers or floats; None is NaN in targets."""
    try:
        array = np.array(value if isinstance(value, list) else [value], np.float64 if _has_none(value) else None)
    except (ValueError, TypeError, OverflowError) as error:
        raise CorruptFileError(f"{where}: '{name}' is not a table of numbers: its rows differ in length") from error
    if not array.size:
        return np.zeros(array.shape, np.float32 if name != "edge_index" else np.int64)
    if array.dtype.kind not in "biuf" or (name != "y" and array.dtype.kind == "f" and not np.isfinite(array).all()):
        raise CorruptFileError(f"{where}: '{name}' must hold finite numbers only")
    return array.astype(np.float32 if array.dtype.kind == "f" else np.int64)


def _has_none(value: Any) -> bool:
    return value is None or (isinstance(value, list) and any(map(_has_none, value)))
