"""GraphML, GML and node-link JSON, beside NetworkX's own graphs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.datasets.custom.importers import format_of, read
from graphtrial.graphs import from_networkx


def ring(nodes: int, y: Any) -> nx.Graph:
    graph = nx.cycle_graph(nodes)
    nx.set_node_attributes(graph, {node: float(node) for node in graph}, "height")
    nx.set_edge_attributes(graph, 0.5, "length")
    graph.graph["y"] = y
    return graph


def node_link(edges: str) -> Callable[[nx.Graph, Path], None]:
    return lambda graph, path: path.write_text(json.dumps(nx.node_link_data(graph, edges=edges)))  # type: ignore[return-value]


WRITERS: dict[str, tuple[str, Callable[[nx.Graph, Path], Any]]] = {
    "graphml": ("graphml", nx.write_graphml),
    "gml": ("gml", nx.write_gml),
    "edges": ("node-link", node_link("edges")),
    "links": ("node-link", node_link("links")),
}


@pytest.mark.parametrize("name", WRITERS)
def test_folder_of_files_becomes_graphs(name: str, tmp_path: Path) -> None:
    kind, write = WRITERS[name]
    rings = [ring(3, 1), ring(4, 0), ring(5, 1)]
    for number, graph in enumerate(rings):
        write(graph, tmp_path / f"{number}.{'json' if kind == 'node-link' else kind}")
    assert format_of(tmp_path)[0] == kind
    options = {"target": "y", "node_features": ("height",), "edge_features": ("length",)}
    graphs = read(kind, format_of(tmp_path)[1], options)
    expected = from_networkx(rings, node_features=["height"], edge_features=["length"], target="y")
    assert graphs.edge_index.tolist() == expected.edge_index.tolist()
    for column in ("x", "edge_attr"):
        assert graphs.column(column).values.tolist() == expected.column(column).values.tolist()
    assert (graphs.column("y").values.tolist(), graphs.column("y").types) == ([1, 0, 1], 2)


def test_list_of_graphs_with_missing_labels(tmp_path: Path) -> None:
    items = [nx.node_link_data(ring(3, y), edges="edges") for y in ([1, None], [0, 1])]
    (tmp_path / "g.json").write_text(json.dumps(items))
    y = read("node-link", [tmp_path / "g.json"], {"target": "y"}).column("y").values
    assert (y.shape, y[0, 0], y[0, 1] != y[0, 1], y[1].tolist()) == ((2, 2), 1, True, [0, 1])


BOMB = '<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><graphml>&b;</graphml>'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("text", [BOMB, '<!DOCTYPE graphml SYSTEM "file:///etc/passwd"><graphml/>'])
def test_document_type_declarations_are_refused(text: str, encoding: str, tmp_path: Path) -> None:
    (tmp_path / "g.graphml").write_bytes(text.encode(encoding))
    with pytest.raises(CorruptFileError, match=r"g\.graphml has a document type declaration"):
        read("graphml", [tmp_path / "g.graphml"], {"target": "y"})


LOST = [{"source": 0, "target": 7}]
NODES = [{"id": 0, "c": 1, "h": 0.5}, {"id": 1, "c": 0, "h": "tall"}]


@pytest.mark.parametrize(
    ("content", "options", "reason"),
    [
        ("{", {"target": "y"}, "g.json is no valid JSON"),
        ("[]", {"target": "y"}, "g.json holds no graphs"),
        ("[1]", {"target": "y"}, "g.json, graph 0: node-link data is an object"),
        (
            {"nodes": NODES, "edges": LOST},
            {"node_target": "c"},
            "g.json, edge 0: there is no node 7",
        ),
        ({"nodes": [{"id": [1]}], "edges": []}, {"node_target": "c"}, "g.json, node 0: 'id' must be"),
        ({"nodes": NODES, "edges": [3]}, {"node_target": "c"}, "g.json, edge 0: 'source' must be"),
        ({"nodes": NODES, "edges": []}, {"target": "y"}, "g.json: there is no attribute 'y', the target"),
        ({"nodes": NODES, "edges": []}, {"node_target": "d"}, "g.json, node 0: there is no attribute 'd'"),
        (
            {"nodes": NODES, "edges": []},
            {"node_target": "c", "node_features": ("h",)},
            "g.json, node 1: attribute 'h' is not",
        ),
        ({"nodes": NODES, "edges": []}, {"node_target": "h"}, "the target 'h' must be one number or word"),
        ({"nodes": NODES, "edges": []}, {}, "name the target with --target or --node-target"),
    ],
)
def test_errors_name_file_and_row(content: Any, options: dict[str, Any], reason: str, tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(GraphTrialError, match=reason) as caught:
        read("node-link", [tmp_path / "g.json"], options)
    assert len(str(caught.value).splitlines()) == 1


def test_invalid_gml_raises(tmp_path: Path) -> None:
    (tmp_path / "g.gml").write_text("graph [ node [ id 0 ] edge [ source 0 target 5 ] ]")
    with pytest.raises(CorruptFileError, match=r"g\.gml is not a GML file"):
        read("gml", [tmp_path / "g.gml"], {"target": "y"})
