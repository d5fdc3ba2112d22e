"""CSV tables of edges, nodes and graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.custom.importers import format_of, read

EDGES = "graph,source,target,weight\na,n1,n2,0.5\na,n2,n1,0.5\nb,n1,n1,2\n"
NODES = 'graph,node,kind,feat\na,n1,2,"0.5,1"\na,n2,0,"1.5,2"\nb,n1,1,"0,0"\n'
GRAPHS = "graph,y,split\na,red,train\nb,blue,test\n"


def tables(folder: Path, **texts: str) -> list[Path]:
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)
    kind, paths = format_of(folder)
    assert kind == "csv"
    return paths


def test_tables_become_graphs(tmp_path: Path) -> None:
    three = "graph,y,split\na,red,train\nb,blue,test\nc,red,val\n"
    graphs = read("csv", tables(tmp_path, edges=EDGES, nodes=NODES + 'c,n1,0,"1,1"\n', graphs=three), {})
    assert graphs.node_counts.tolist() == [2, 1, 1]
    assert graphs.edge_index.tolist() == [[1, 0, 0], [0, 1, 0]]
    assert graphs.column("x").values.tolist() == [[2, 0.5, 1], [0, 1.5, 2], [1, 0, 0], [0, 1, 1]]
    assert graphs.column("edge_attr").values.tolist() == [0.5, 0.5, 2]
    assert graphs.column("y").values.tolist() == [1, 0, 1]  # blue, red
    assert graphs.column("part").values.tolist() == [0, 2, 1]


def test_columns_are_chosen_and_a_single_category_is_embedded(tmp_path: Path) -> None:
    paths = tables(
        tmp_path,
        edges="src_id,dst_id\n1,2\n",
        nodes="node_id,kind,year,group,split\n1,0,5,x,train\n2,3,6,y,val\n3,1,7,x,test\n",
    )
    options = {"node_features": ("kind",), "node_target": "group", "both_ways": True}
    graphs = read("csv", paths, options)
    assert (graphs.column("x").values.tolist(), graphs.column("x").types) == ([0, 3, 1], 4)
    assert (graphs.column("y").level, graphs.column("y").values.tolist()) == ("node", [0, 1, 0])
    assert graphs.num_edges == 2


def test_missing_labels_are_empty(tmp_path: Path) -> None:
    paths = tables(tmp_path, edges="graph,source,target\na,1,2\nb,1,2\n", graphs='graph,y\na,"1,,0"\nb,"0,1,"\n')
    y = read("csv", paths, {}).column("y").values
    assert y[0, [0, 2]].tolist() == [1, 0]
    assert y[1, :2].tolist() == [0, 1]
    assert (y != y).tolist() == [[False, True, False], [False, False, True]]


@pytest.mark.parametrize(
    ("texts", "options", "reason"),
    [
        ({"edges": "a,b\n1,2\n"}, {}, r"edges.csv, row 1: the columns graph, source, target are needed"),
        ({"edges": ""}, {}, "edges.csv is empty"),
        ({"edges": EDGES + "a,n1\n"}, {}, r"edges.csv, row 5: 2 values for 4 columns"),
        (
            {"edges": EDGES, "nodes": NODES, "graphs": GRAPHS + "a,red,val\n"},
            {},
            r"graphs.csv, row 4: this graph was",
        ),
        ({"edges": EDGES + "a,n1,n9,1\n", "nodes": NODES}, {}, r"edges.csv, row 5: node 'n9' is not in nodes.csv"),
        ({"edges": EDGES, "nodes": NODES + 'a,n1,2,"0,1"\n'}, {}, r"nodes.csv, row 5: node 'n1' was named before"),
        ({"edges": EDGES + "z,n1,n1,1\n", "graphs": GRAPHS}, {}, r"edges.csv, row 5: graph 'z' is not in"),
        ({"edges": EDGES.replace("0.5", "much", 1)}, {}, r"edges.csv, row 2: 'weight' must be a number, not 'much'"),
        ({"edges": EDGES.replace("0.5", "nan", 1)}, {}, r"edges.csv, row 2: 'weight' must be a number, not 'nan'"),
        ({"edges": EDGES.replace("0.5", '"0.5,1"', 1)}, {}, r"edges.csv, row 3: 1 numbers, but 2 before"),
        ({"edges": EDGES, "graphs": GRAPHS.replace("red", "1")}, {}, r"graphs.csv, row 2: 'y' is a number here"),
        ({"edges": EDGES, "graphs": GRAPHS.replace("train", "7")}, {}, "must be one of train, val, test, none"),
        (
            {"edges": EDGES, "graphs": GRAPHS.replace("split", "train_nodes")},
            {},
            "row 1: 'train_nodes' looks",
        ),
        ({"edges": EDGES}, {"edge_features": ("size",)}, "edges.csv has no column 'size'"),
        ({"edges": '"graph,source\n'}, {}, "edges.csv is no CSV table"),
    ],
)
def test_errors_name_file_and_row(texts: dict[str, str], options: dict[str, Any], reason: str, tmp_path: Path) -> None:
    with pytest.raises(GraphTrialError, match=reason) as caught:
        read("csv", tables(tmp_path, **texts), options)
    assert len(str(caught.value).splitlines()) == 1
