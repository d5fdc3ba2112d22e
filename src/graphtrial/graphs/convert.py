"""Conversion to and from PyG `Data` lists and NetworkX graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from graphtrial.core.errors import InvalidGraphError, missing_extra
from graphtrial.graphs.graphset import Column, GraphSet, Level, graph_ids
from graphtrial.graphs.mask_names import PART, SPLIT, role_of
from graphtrial.graphs.masks import column_of_ids, masks_of, part_column, words_of

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

Array = npt.NDArray[Any]


def from_pyg(items: Iterable[Data]) -> GraphSet:
    """Make a set from PyG `Data` objects, such as a list or a whole PyG dataset.

    Every tensor of the first item becomes a column and must be in all of them. It is a node or edge column where its
    first dimension counts nodes or edges in every item, else a graph column; where it counts both, names with "edge"
    are edge columns, as in PyG. Whole-number `x` and `edge_attr` become categories. Masks, lists of ids and words that
    name a split, in the items or as the dataset's `get_idx_split()`, become the column `part`, see `parts`.
    """
    data = list(items)
    if not data:
        raise InvalidGraphError("no graphs were given")
    for i, item in enumerate(data):
        if item.edge_index is None:
            raise InvalidGraphError(
                f"graph {i} has no edge_index; give an empty one of shape (2, 0) if it has no edges"
            )
    nodes = np.array([int(item.num_nodes) for item in data])
    edges = np.array([int(item.edge_index.shape[1]) for item in data])
    roles = sorted({name for item in data for name in item.keys() if role_of(name)})  # noqa: SIM118
    known = ("edge_index", *roles)
    names = [name for name in data[0].keys() if name not in known and torch.is_tensor(data[0][name])]  # noqa: SIM118
    if PART in names:
        raise InvalidGraphError(f"'{PART}' is the name of the column that says the split; rename it, or give masks")
    columns = {}
    for name in names:
        if not all(name in item and torch.is_tensor(item[name]) for item in data):
            raise InvalidGraphError(f"'{name}' is in the first graph but not in all of them")
        arrays = [item[name].detach().cpu().numpy() for item in data]
        columns[name] = _column(name, arrays, nodes, edges)
    given = {name: [_value(item, name) for item in data] for name in roles}
    part = _part_of_pyg(items, given, nodes, edges, columns["y"].level if "y" in columns else None)
    if part is not None:
        columns[PART] = part
    edge_index = np.concatenate([item.edge_index.cpu().numpy() for item in data], axis=1)
    return GraphSet.build(nodes, edges, edge_index, columns)


def to_pyg(graphs: GraphSet) -> list[Data]:
    """Return the graphs as PyG `Data` objects; edges are in (target, source) order.

    A split of nodes or edges that the set has as its column `part` becomes `train_mask`, `val_mask` and `test_mask`, a
    split of graphs the word `split`.
    """
    try:
        from torch_geometric.data import Data
    except ImportError:
        raise missing_extra("to_pyg", "PyG", "pyg") from None
    made = []
    for i in range(len(graphs)):
        item = Data(
            edge_index=torch.from_numpy(_edges_of(graphs, i).astype(np.int64)),
            num_nodes=int(graphs.node_ptr[i + 1] - graphs.node_ptr[i]),
        )
        for name, column in graphs.columns.items():
            if name == PART and column.level == "graph":
                item[SPLIT] = words_of(_rows_of(graphs, i, column))[0]
                continue
            if name == PART and column.level != "pair":
                for mask, chosen in masks_of(_rows_of(graphs, i, column)).items():
                    item[mask] = torch.from_numpy(chosen)
                continue
            values = torch.from_numpy(np.array(_rows_of(graphs, i, column)))
            item[name] = values if values.is_floating_point() or values.dtype == torch.bool else values.long()
        made.append(item)
    return made


def from_networkx(
    items: Iterable[nx.Graph],
    *,
    node_features: Sequence[str] = (),
    edge_features: Sequence[str] = (),
    target: str | None = None,
    ignore: Sequence[str | None] = (),
) -> GraphSet:
    """Make a set from NetworkX graphs of any kind; an undirected edge becomes two directed ones (a self-loop one).

    The named node attributes, side by side, become `x`, the edge attributes `edge_attr`, and the graph attribute
    `target` becomes `y`. Nodes are numbered in the graph's own order. Attributes of nodes, edges or graphs that name a
    split, such as `split` or `train_mask`, become the column `part`, see `parts`; they cannot be features.
    Attributes to `ignore` are of no interest, whatever they are called.
    """
    for name in (*node_features, *edge_features, *([target] if target else [])):
        if role_of(name):
            raise InvalidGraphError(f"'{name}' names a split, so that it can be neither a feature nor a target")
    nodes: list[int] = []
    edges: list[int] = []
    ends: list[tuple[int, int]] = []
    x: list[Any] = []
    edge_attr: list[Any] = []
    y: list[Any] = []
    given: dict[str, list[Any]] = {}
    chosen = {*node_features, *edge_features, target, *ignore}
    for position, graph in enumerate(items):
        number = {node: i for i, node in enumerate(graph)}
        nodes.append(len(number))
        x.extend(_attributes(values, node_features, "a node") for _, values in graph.nodes(data=True))
        found = [(number[u], number[v], values) for u, v, values in graph.edges(data=True)]
        if not graph.is_directed():
            found += [(v, u, values) for u, v, values in found if u != v]
        edges.append(len(found))
        ends.extend((u, v) for u, v, _ in found)
        edge_attr.extend(_attributes(values, edge_features, "an edge") for _, _, values in found)
        if target is not None:
            y.append(_attributes(graph.graph, [target], "a graph")[0])
        for name, value in _named_parts(graph, [values for _, _, values in found], chosen).items():
            given.setdefault(name, [None] * position).append(value)
        for values in given.values():
            values.extend([None] * (position + 1 - len(values)))
    columns: dict[str, Column] = {}
    if node_features:
        columns["x"] = Column(_stacked(x), "node", ", ".join(node_features))
    if edge_features:
        columns["edge_attr"] = Column(_stacked(edge_attr), "edge", ", ".join(edge_features))
    if target is not None:
        columns["y"] = Column(_stacked(y), "graph", target)
    part = part_column(given, np.array(nodes, np.int64), np.array(edges, np.int64), "graph" if target else None)
    if part is not None:
        columns[PART] = part
    edge_index = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    return GraphSet.build(np.array(nodes, np.int64), np.array(edges, np.int64), edge_index, columns)


def to_networkx(graphs: GraphSet, graph: int) -> nx.MultiDiGraph:
    """Return one graph as a NetworkX directed multigraph; columns become attributes of nodes, edges and the graph.

    The column `part` becomes the attribute `split`, in words.
    """
    import networkx as nx

    graph_ids([graph], len(graphs))
    made = nx.MultiDiGraph()
    made.add_nodes_from(range(int(graphs.node_ptr[graph + 1] - graphs.node_ptr[graph])))
    edges = [tuple(map(int, edge)) for edge in _edges_of(graphs, graph).T]
    keys = made.add_edges_from(edges)
    for key, column in graphs.columns.items():
        name, values = key, _rows_of(graphs, graph, column).tolist()
        if key == PART and column.level != "pair":
            name, values = SPLIT, words_of(_rows_of(graphs, graph, column))
        if column.level == "node":
            nx.set_node_attributes(made, dict(enumerate(values)), name)
        elif column.level == "edge":
            nx.set_edge_attributes(
                made, {(*edge, key): value for edge, key, value in zip(edges, keys, values, strict=True)}, name
            )
        else:
            made.graph[name] = values[0]
    return made


def _value(item: Any, name: str) -> Any:
    return item[name] if name in item.keys() else None  # noqa: SIM118 - PyG's Data is no dictionary


def _part_of_pyg(
    items: Any, given: dict[str, list[Any]], nodes: Array, edges: Array, target: Level | None
) -> Column | None:
    """Return the split that PyG graphs have themselves, or that their dataset has, but not both."""
    part = part_column(given, nodes, edges, target)
    lookup = getattr(items, "get_idx_split", None)
    if not callable(lookup):
        return part
    if part is not None:
        raise InvalidGraphError(f"the split is named twice, by get_idx_split() and by '{next(iter(given))}'; keep one")
    if getattr(items, "_indices", None) is not None:
        raise InvalidGraphError(
            "get_idx_split() numbers the graphs of the whole dataset, and these are a choice or another order of them: "
            "give the whole dataset, or a list of its graphs that name their split"
        )
    level: Level = "node" if len(nodes) == 1 and target != "graph" else "graph"
    return column_of_ids(lookup(), int(nodes[0]) if level == "node" else len(nodes), level)


def _named_parts(graph: nx.Graph, edges: list[dict[str, Any]], chosen: set[str | None]) -> dict[str, Any]:
    """Return the attributes that name a split: of the graph, or a list of those of its nodes or edges."""
    named: dict[str, Any] = {name: value for name, value in graph.graph.items() if _names_part(name, chosen)}
    for what, rows in (("node", [values for _, values in graph.nodes(data=True)]), ("edge", edges)):
        for name in sorted({name for values in rows for name in values if _names_part(name, chosen)}):
            if name in named:
                raise InvalidGraphError(f"the split is named twice, by '{name}' of nodes, edges or the graph; keep one")
            lacking = sum(name not in values for values in rows)
            if lacking:
                raise InvalidGraphError(f"'{name}' is in some {what}s but not in {lacking} others")
            named[name] = [values[name] for values in rows]
    return named


def _names_part(name: Any, chosen: set[str | None]) -> bool:
    return isinstance(name, str) and name not in chosen and role_of(name) is not None


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
        # PyG keeps one graph's label as a scalar, as [d], [1] or [1, d]; all of them are one row here.
        arrays = [array[None] for array in arrays]
    try:
        values = np.concatenate(arrays)
    except ValueError as error:
        raise InvalidGraphError(f"'{name}' has different shapes in different graphs: {error}") from None
    categorical = name in ("x", "edge_attr") and values.dtype.kind in "iu" and values.size and values.min() >= 0
    return Column(values, level, types=int(values.max()) + 1 if categorical else None)


def _attributes(values: dict[str, Any], names: Sequence[str], what: str) -> list[Any]:
    missing = [name for name in names if name not in values]
    if missing:
        raise InvalidGraphError(
            f"{what} has no attribute '{missing[0]}'; it has {', '.join(map(str, values)) or 'none'}"
        )
    return [values[name] for name in names]


def _stacked(values: list[Any]) -> Array:
    try:
        return np.array(values)
    except ValueError as error:
        raise InvalidGraphError(f"the rows of a column differ in shape: {error}") from None


def _edges_of(graphs: GraphSet, graph: int) -> Array:
    return np.asarray(graphs.edge_index[:, graphs.edge_ptr[graph] : graphs.edge_ptr[graph + 1]])


def _rows_of(graphs: GraphSet, graph: int, column: Column) -> Array:
    if column.level == "graph":
        return np.asarray(column.values[graph : graph + 1])
    pointers = graphs.node_ptr if column.level == "node" else graphs.edge_ptr
    return np.asarray(column.values[pointers[graph] : pointers[graph + 1]])
