"""Importer of GraphML files, one graph each, read by NetworkX."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import ParseError
from xml.parsers import expat

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
    """Read graphs with the given attributes as features; see `networkx_graphs.convert`."""
    import networkx as nx

    graphs = []
    for path in paths:
        _refuse_declarations(path)
        try:
            graphs.append((path.name, nx.read_graphml(path)))
        except (ParseError, nx.NetworkXError, LookupError, ValueError, TypeError, AttributeError) as error:
            raise CorruptFileError(f"{path.name} is not a GraphML file: {reason(error)}") from error
    return convert(graphs, node_features, edge_features, target, node_target)


def _refuse_declarations(path: Path) -> None:
    """Raise for a file with a document type declaration: its entities could expand to any size."""

    def refuse(*arguments: object) -> None:
        raise CorruptFileError(f"{path.name} has a document type declaration (<!DOCTYPE), which is refused; remove it")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        with path.open("rb") as stream:
            parser.ParseFile(stream)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise CorruptFileError(f"{path.name} is not a GraphML file: {reason(error)}") from error
