"""Importer of node-link data, the JSON format of NetworkX (`nx.node_link_data`): one graph per file, or a list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphtrial.core.errors import CorruptFileError
from graphtrial.datasets.custom.importers import check_size, reason
from graphtrial.datasets.custom.importers.networkx_graphs import convert
from graphtrial.graphs import GraphSet

if TYPE_CHECKING:
    import networkx as nx

EDGES = ("edges", "links")
"""Names of the list of edges, the second of versions of NetworkX before 3.4."""


def read(
    paths: list[Path],
    node_features: tuple[str, ...] = (),
    edge_features: tuple[str, ...] = (),
    target: str | None = None,
    node_target: str | None = None,
) -> GraphSet:
    """Read graphs with the given attributes as features; see `networkx_graphs.convert`."""
    graphs = []
    for path in paths:
        try:
            content = json.loads(path.read_bytes())
        except (ValueError, RecursionError) as error:
            raise CorruptFileError(f"{path.name} is no valid JSON: {reason(error)}") from error
        for number, item in enumerate(content if isinstance(content, list) else [content]):
            where = f"{path.name}, graph {number}" if isinstance(content, list) else path.name
            graphs.append((where, _graph(item, where)))
    if not graphs:
        raise CorruptFileError(f"{paths[0].name} holds no graphs")
    return convert(graphs, node_features, edge_features, target, node_target)


def _graph(item: Any, where: str) -> nx.Graph:
    import networkx as nx

    edges = next((name for name in EDGES if isinstance(item, dict) and name in item), None)
    if edges is None or not isinstance(item.get("nodes"), list) or not isinstance(item[edges], list):
        raise CorruptFileError(f"{where}: node-link data is an object with the lists 'nodes' and 'edges' (or 'links')")
    check_size(len(item["nodes"]), where)
    named = {_identity(node, "id", f"{where}, node {row}") for row, node in enumerate(item["nodes"])}
    for row, edge in enumerate(item[edges]):
        for end in ("source", "target"):
            node = _identity(edge, end, f"{where}, edge {row}")
            if node not in named:
                raise CorruptFileError(f"{where}, edge {row}: there is no node {node!r}")
    try:
        return nx.node_link_graph(item, edges=edges)
    except (nx.NetworkXError, LookupError, ValueError, TypeError, AttributeError) as error:
        raise CorruptFileError(f"{where} is no node-link data: {reason(error)}") from error


def _identity(row: Any, key: str, where: str) -> str | int | float:
    value = row.get(key) if isinstance(row, dict) else None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise CorruptFileError(f"{where}: '{key}' must be a string or a number")
    return value
