"""Conversion to and from PyG `Data` lists and NetworkX graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from graphtrial.errors import InvalidGraphError, missing_extra
from graphtrial.graphs.graphset import Column, GraphSet, Level, graph_ids

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

Array = npt.NDArray[Any]


def from_pyg(items: Iterable[Data]) -> GraphSet:
    """Make a set from PyG `Data` objects, such as a list or a whole PyG dataset.

    Every tensor of the first item becomes a column and must be in all of them. It is a node or edge column where its
    first dimension counts nodes or edges in every item, else a graph column; where it counts both, names with "edge"
    are edge columns, as in PyG. Whole-number `x` and `edge_attr` become categories.
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
    names = [name for name in data[0].keys() if name != "edge_index" and torch.is_tensor(data[0][name])]  # noqa: SIM118
    columns = {}
    for name in names:
        if not all(name in item and torch.is_tensor(item[name]) for item in data):
            raise InvalidGraphError(f"'{name}' is in the first graph but not in all of them")
        arrays = [item[name].detach().cpu().numpy() for item in data]
        columns[name] = _column(name, arrays, nodes, edges)
    edge_index = np.concatenate([item.edge_index.cpu().numpy() for item in data], axis=1)
    return GraphSet.build(nodes, edges, edge_index, columns)


def to_pyg(graphs: GraphSet) -> list[Data]:
    """Return the graphs as PyG `Data` objects; edges are in (target, source) order."""
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
) -> GraphSet:
    """Make a set from NetworkX graphs of any kind; an undirected edge becomes two directed ones (a self-loop one).

    The named node attributes, side by side, become `x`, the edge attributes `edge_attr`, and the graph attribute
    `target` becomes `y`. Nodes are numbered in the graph's own order.
    """
    nodes: list[int] = []
    edges: list[int] = []
    ends: list[tuple[int, int]] = []
    x: list[Any] = []
    edge_attr: list[Any] = []
    y: list[Any] = []
    for graph in items:
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
    columns: dict[str, Column] = {}
    if node_features:
        columns["x"] = Column(_stacked(x), "node", ", ".join(node_features))
    if edge_features:
        columns["edge_attr"] = Column(_stacked(edge_attr), "edge", ", ".join(edge_features))
    if target is not None:
        columns["y"] = Column(_stacked(y), "graph", target)
    edge_index = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    return GraphSet.build(np.array(nodes, np.int64), np.array(edges, np.int64), edge_index, columns)


def to_networkx(graphs: GraphSet, graph: int) -> nx.MultiDiGraph:
    """Return one graph as a NetworkX directed multigraph; columns become attributes of nodes, edges and the graph."""
    import networkx as nx

    graph_ids([graph], len(graphs))
    made = nx.MultiDiGraph()
    made.add_nodes_from(range(int(graphs.node_ptr[graph + 1] - graphs.node_ptr[graph])))
    edges = [tuple(map(int, edge)) for edge in _edges_of(graphs, graph).T]
    keys = made.add_edges_from(edges)
    for name, column in graphs.columns.items():
        values = _rows_of(graphs, graph, column).tolist()
        if column.level == "node":
            nx.set_node_attributes(made, dict(enumerate(values)), name)
        elif column.level == "edge":
            nx.set_edge_attributes(
                made, {(*edge, key): value for edge, key, value in zip(edges, keys, values, strict=True)}, name
            )
        else:
            made.graph[name] = values[0]
    return made


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
