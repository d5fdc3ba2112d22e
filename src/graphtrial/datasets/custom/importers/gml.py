"""Importer of GML files, one graph each, read by NetworkX."""

from __future__ import annotations

from pathlib import Path

from graphtrial.core.errors import CorruptFileError
from graphtrial.datasets.custom.importers import reason
from graphtrial.datasets.custom.importers.networkx_graphs import convert
from graphtrial.graphs import GraphSet


def read(
    paths: list[Path],
    node_features: tuple[str, ...] = (),
    edge_features: tuple[str, ...] = (),
    target: str | None = None,
    node_target: str | None = None,
) -> GraphSet:
    """Read graphs with the given attributes as features; see `networkx_graphs.convert`. Nodes are named by their id."""
    import networkx as nx

    graphs = []
    for path in paths:
        try:
            graphs.append((path.name, nx.read_gml(path, label="id")))
        except (nx.NetworkXError, LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise CorruptFileError(f"{path.name} is not a GML file: {reason(error)}") from error
    return convert(graphs, node_features, edge_features, target, node_target)
