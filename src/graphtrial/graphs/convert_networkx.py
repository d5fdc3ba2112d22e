"""Conversion between `GraphSet` and NetworkX graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import InvalidGraphError
from graphtrial.graphs.column import Column
from graphtrial.graphs.graphset import GraphSet
from graphtrial.graphs.mask_names import PART, SPLIT, parse_mask_name
from graphtrial.graphs.masks import part_column, part_to_names
from graphtrial.graphs.pointers import edges_of_graph, graph_ids, rows_of_graph

if TYPE_CHECKING:
    import networkx as nx

Array = npt.NDArray[Any]


def from_networkx(
    items: Iterable[nx.Graph],
    *,
    node_features: Sequence[str] = (),
    edge_features: Sequence[str] = (),
    target: str | None = None,
    ignore: Sequence[str | None] = (),
) -> GraphSet:
    """Build a set from NetworkX graphs; an undirected edge becomes two directed ones (a self-loop one).

    The node attributes `node_features` are stacked into `x`, the edge attributes `edge_features` into `edge_attr`, and
    the graph attribute `target` becomes `y`. Nodes are indexed in the graph's own order. Masks and part names of nodes,
    edges or graphs, such as `split` or `train_mask` (see `mask_names`), become the column `part`; they cannot be
    features. Attributes in `ignore` are never read as masks.
    """
    for name in (*node_features, *edge_features, *([target] if target else [])):
        if parse_mask_name(name):
            raise InvalidGraphError(f"'{name}' is a split, so that it can be neither a feature nor a target")
    nodes: list[int] = []
    edges: list[int] = []
    edge_index: list[tuple[int, int]] = []
    x: list[Any] = []
    edge_attr: list[Any] = []
    y: list[Any] = []
    masks: dict[str, list[Any]] = {}
    features = {*node_features, *edge_features, target, *ignore}
    for position, graph in enumerate(items):
        index = {node: i for i, node in enumerate(graph)}
        nodes.append(len(index))
        x.extend(_attributes(values, node_features, "a node") for _, values in graph.nodes(data=True))
        directed = [(index[u], index[v], values) for u, v, values in graph.edges(data=True)]
        if not graph.is_directed():
            directed += [(v, u, values) for u, v, values in directed if u != v]
        edges.append(len(directed))
        edge_index.extend((u, v) for u, v, _ in directed)
        edge_attr.extend(_attributes(values, edge_features, "an edge") for _, _, values in directed)
        if target is not None:
            y.append(_attributes(graph.graph, [target], "a graph")[0])
        for name, value in _masks(graph, [values for _, _, values in directed], features).items():
            masks.setdefault(name, [None] * position).append(value)
        for values in masks.values():
            values.extend([None] * (position + 1 - len(values)))
    columns: dict[str, Column] = {}
    if node_features:
        columns["x"] = Column(_stacked(x), "node", ", ".join(node_features))
    if edge_features:
        columns["edge_attr"] = Column(_stacked(edge_attr), "edge", ", ".join(edge_features))
    if target is not None:
        columns["y"] = Column(_stacked(y), "graph", target)
    part = part_column(masks, np.array(nodes, np.int64), np.array(edges, np.int64), "graph" if target else None)
    if part is not None:
        columns[PART] = part
    transposed = np.array(edge_index, dtype=np.int64).reshape(-1, 2).T
    return GraphSet.build(np.array(nodes, np.int64), np.array(edges, np.int64), transposed, columns)


def to_networkx(graphs: GraphSet, graph: int) -> nx.MultiDiGraph:
    """Convert one graph to a NetworkX directed multigraph; columns become attributes of nodes, edges and the graph.

    The column `part` becomes the attribute `split`, with part names as values.
    """
    import networkx as nx

    graph_ids([graph], len(graphs))
    nx_graph = nx.MultiDiGraph()
    nx_graph.add_nodes_from(range(int(graphs.node_ptr[graph + 1] - graphs.node_ptr[graph])))
    edges = [tuple(map(int, edge)) for edge in edges_of_graph(graphs, graph).T]
    keys = nx_graph.add_edges_from(edges)
    for key, column in graphs.columns.items():
        name, values = key, rows_of_graph(graphs, graph, column).tolist()
        if key == PART and column.level != "pair":
            name, values = SPLIT, part_to_names(rows_of_graph(graphs, graph, column))
        if column.level == "node":
            nx.set_node_attributes(nx_graph, dict(enumerate(values)), name)
        elif column.level == "edge":
            nx.set_edge_attributes(
                nx_graph, {(*edge, key): value for edge, key, value in zip(edges, keys, values, strict=True)}, name
            )
        else:
            nx_graph.graph[name] = values if column.level == "pair" else values[0]
    return nx_graph


def _masks(graph: nx.Graph, edges: list[dict[str, Any]], features: set[str | None]) -> dict[str, Any]:
    """Return the attributes that hold a split: of the graph, or a list of those of its nodes or edges."""
    masks: dict[str, Any] = {name: value for name, value in graph.graph.items() if _is_mask(name, features)}
    for subject, rows in (("node", [values for _, values in graph.nodes(data=True)]), ("edge", edges)):
        for name in sorted({name for values in rows for name in values if _is_mask(name, features)}):
            if name in masks:
                raise InvalidGraphError(f"the split is given twice, by '{name}' of nodes, edges or the graph; keep one")
            lacking = sum(name not in values for values in rows)
            if lacking:
                raise InvalidGraphError(f"'{name}' is in some {subject}s but not in {lacking} others")
            masks[name] = [values[name] for values in rows]
    return masks


def _is_mask(name: Any, features: set[str | None]) -> bool:
    return isinstance(name, str) and name not in features and parse_mask_name(name) is not None


def _attributes(values: dict[str, Any], names: Sequence[str], subject: str) -> list[Any]:
    missing = [name for name in names if name not in values]
    if missing:
        raise InvalidGraphError(
            f"{subject} has no attribute '{missing[0]}'; it has {', '.join(map(str, values)) or 'none'}"
        )
    return [values[name] for name in names]


def _stacked(values: list[Any]) -> Array:
    try:
        return np.array(values)
    except ValueError as error:
        raise InvalidGraphError(f"the rows of a column differ in shape: {error}") from None
