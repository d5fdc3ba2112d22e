"""Conversion between `GraphSet` and PyG `Data` objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from graphtrial.core.errors import InvalidGraphError, missing_extra
from graphtrial.graphs.column import PAIR_COUNT, PAIRS, QUERY, Column, Level
from graphtrial.graphs.graphset import GraphSet
from graphtrial.graphs.links.pyg_pairs import INDEX, LABEL, has_pairs, pair_columns
from graphtrial.graphs.mask_names import PART, SPLIT, parse_mask_name
from graphtrial.graphs.masks import part_column, part_from_ids, part_to_masks, part_to_names
from graphtrial.graphs.pointers import edges_of_graph, rows_of_graph

if TYPE_CHECKING:
    from torch_geometric.data import Data

Array = npt.NDArray[Any]


def from_pyg(items: Iterable[Data] | Data) -> GraphSet:
    """Build a set from PyG `Data` objects: a list, a PyG dataset, or a single one.

    Every tensor attribute of the first item becomes a column and must be in all of them. It is a node or edge column
    where its first dimension is the number of nodes or edges in every item, else a graph column; where both match,
    names with "edge" are edge columns, as in PyG. Integer `x` and `edge_attr` become categorical. Masks, index lists
    and part names of the items (see `mask_names`), or the dataset's `get_idx_split()`, become the column `part`.
    Without `y` the labelled pairs `edge_label_index` and `edge_label` are the targets, see `links.pyg_pairs`.
    """
    is_graph = isinstance(getattr(items, "edge_index", None), torch.Tensor)
    data: list[Any] = [items] if is_graph or not isinstance(items, Iterable) else list(items)
    if not data:
        raise InvalidGraphError("no graphs were given")
    for i, item in enumerate(data):
        if not hasattr(item, "edge_index"):
            raise InvalidGraphError(
                f"graph {i} is a {type(item).__name__}, not a torch_geometric.data.Data: give Data objects or a dataset"
            )
        if item.edge_index is None:
            raise InvalidGraphError(
                f"graph {i} has no edge_index; give an empty one of shape (2, 0) if it has no edges"
            )
    nodes = np.array([int(item.num_nodes) for item in data])
    edges = np.array([int(item.edge_index.shape[1]) for item in data])
    masks = sorted({name for item in data for name in item.keys() if parse_mask_name(name)})  # noqa: SIM118
    skipped = ("edge_index", *masks)
    names = [name for name in data[0].keys() if name not in skipped and torch.is_tensor(data[0][name])]  # noqa: SIM118
    if PART in names:
        raise InvalidGraphError(f"'{PART}' is reserved for the split; rename the attribute, or give masks")
    columns = pair_columns(data) if has_pairs(names) else {}
    for name in [name for name in names if not columns or name not in (INDEX, LABEL, QUERY)]:
        if not all(name in item and torch.is_tensor(item[name]) for item in data):
            raise InvalidGraphError(f"'{name}' is in the first graph but not in all of them")
        arrays = [item[name].detach().cpu().numpy() for item in data]
        columns[name] = _column(name, arrays, nodes, edges)
    mask_values = {name: [_value(item, name) for item in data] for name in masks}
    target = columns["y"].level if "y" in columns else None
    pairs = np.array([len(columns["y"].values)]) if target == "pair" and len(data) == 1 else None
    part = _part_of_pyg(items, part_column(mask_values, nodes, edges, target, pairs), masks, nodes, target)
    if part is not None:
        columns[PART] = part
    edge_index = np.concatenate([item.edge_index.cpu().numpy() for item in data], axis=1)
    return GraphSet.build(nodes, edges, edge_index, columns)


def to_pyg(graphs: GraphSet) -> list[Data]:
    """Convert the graphs to PyG `Data` objects; edges are in (target, source) order.

    A column `part` of nodes, edges or pairs becomes `train_mask`, `val_mask` and `test_mask`, one of graphs `split`.
    Pairs become `edge_label_index`, and their labels `edge_label`.
    """
    try:
        from torch_geometric.data import Data
    except ImportError:
        raise missing_extra("to_pyg", "PyG", "pyg") from None
    items = []
    for i in range(len(graphs)):
        item = Data(
            edge_index=torch.from_numpy(edges_of_graph(graphs, i).astype(np.int64)),
            num_nodes=int(graphs.node_ptr[i + 1] - graphs.node_ptr[i]),
        )
        for name, column in graphs.columns.items():
            if name == PART and column.level == "graph":
                item[SPLIT] = part_to_names(rows_of_graph(graphs, i, column))[0]
                continue
            if name == PART:
                for mask_name, mask in part_to_masks(rows_of_graph(graphs, i, column)).items():
                    item[mask_name] = torch.from_numpy(mask)
                continue
            values = torch.from_numpy(np.array(rows_of_graph(graphs, i, column)))
            values = values if values.is_floating_point() or values.dtype == torch.bool else values.long()
            if name == PAIRS:
                item[INDEX] = values.T.contiguous()
            elif name != PAIR_COUNT:
                item[LABEL if name == "y" and column.level == "pair" else name] = values
        items.append(item)
    return items


def _value(item: Any, name: str) -> Any:
    return item[name] if name in item.keys() else None  # noqa: SIM118 - PyG's Data is not a dict


def _part_of_pyg(
    items: Any, part: Column | None, masks: list[str], nodes: Array, target: Level | None
) -> Column | None:
    """Return the column `part` of the items' masks or of the dataset's `get_idx_split()`; both is an error."""
    lookup = getattr(items, "get_idx_split", None)
    if not callable(lookup):
        return part
    if part is not None:
        raise InvalidGraphError(f"the split is given twice, by get_idx_split() and by '{masks[0]}'; keep one")
    if getattr(items, "_indices", None) is not None:
        raise InvalidGraphError(
            "get_idx_split() has indices into the whole dataset, but this is a subset or a permutation of it: "
            "give the whole dataset, or a list of graphs with masks"
        )
    level: Level = "node" if len(nodes) == 1 and target != "graph" else "graph"
    return part_from_ids(lookup(), int(nodes[0]) if level == "node" else len(nodes), level)


def _column(name: str, arrays: list[Array], nodes: Array, edges: Array) -> Column:
    lengths = np.array([len(array) if array.ndim else -1 for array in arrays])
    level: Level = "graph"
    if name != "y" or (lengths != 1).any():
        counts_nodes, counts_edges = bool((lengths == nodes).all()), bool((lengths == edges).all())
        if counts_edges and ("edge" in name or not counts_nodes):
            level = "edge"
        elif counts_nodes:
            level = "node"
    if level == "graph" and (lengths != 1).any():
        # PyG stores the label of one graph as a scalar, as [d], [1] or [1, d]; each of them is one row here.
        arrays = [array[None] for array in arrays]
    try:
        values = np.concatenate(arrays)
    except ValueError as error:
        raise InvalidGraphError(f"'{name}' has different shapes in different graphs: {error}") from None
    categorical = name in ("x", "edge_attr") and values.dtype.kind in "iu" and values.size and values.min() >= 0
    return Column(values, level, types=int(values.max()) + 1 if categorical else None)
