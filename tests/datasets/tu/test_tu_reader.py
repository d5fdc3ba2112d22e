"""The TU text format: like PyG on valid files, tolerant of quirks, strict about corruption."""

from __future__ import annotations

import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphtrial.core.errors import CorruptFileError
from graphtrial.datasets.tu.features import with_features
from graphtrial.datasets.tu.reader import read_folder
from graphtrial.graphs import GraphSet

# Two triangles with a tail and one single edge, in the plainest form.
PLAIN = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n3, 1\n1, 3\n3, 4\n4, 3\n5, 6\n6, 5\n",
    "graph_indicator": "1\n1\n1\n1\n2\n2\n",
    "graph_labels": "7\n-1\n",
    "node_labels": "2\n3\n2\n2\n5\n2\n",
    "edge_labels": "".join(f"{n}\n" for n in (0, 0, 1, 1, 2, 2, 0, 0, 1, 1)),
    "node_attributes": "0.5, 1\n1.5, 1\n2.5, 1\n3.5, 1\n4.5, 1\n5.5, 1e-3\n",
    "edge_attributes": "".join(f"{n}.25\n" for n in (1, 1, 2, 2, 3, 3, 4, 4, 5, 5)),
}


def written(folder: Path, **tables: str) -> GraphSet:
    for name, text in (PLAIN | tables).items():
        (folder / f"S_{name}.txt").write_text(text, newline="")
    return read_folder(folder, "S")


def without(folder: Path, *names: str, **tables: str) -> GraphSet:
    for name, text in (PLAIN | tables).items():
        if name not in names:
            (folder / f"S_{name}.txt").write_text(text, newline="")
    return read_folder(folder, "S")


@pytest.fixture
def plain(tmp_path: Path) -> GraphSet:
    """The plain set."""
    (tmp_path / "plain").mkdir()
    return written(tmp_path / "plain")


def test_minimal_dataset_is_read(plain: GraphSet) -> None:
    assert plain.node_counts.tolist() == [4, 2]
    assert plain.edge_counts.tolist() == [8, 2]
    assert plain.column("y").values.tolist() == [1, 0]
    assert plain.column("node_label").values.tolist() == [0, 1, 0, 0, 3, 0]
    assert plain.column("node_label").types == 4
    assert plain.column("node_label").meaning == "node label, 2 in the file being 0"
    np.testing.assert_allclose(plain.column("node_attributes").values[5], [5.5, 1e-3])
    first = {tuple(e): a for e, a in zip(plain.edge_index.T.tolist(), plain.column("edge_label").values, strict=True)}
    assert first[(2, 0)] == first[(0, 2)] == 2


QUIRKS = {
    "windows line ends": {name: text.replace("\n", "\r\n") for name, text in PLAIN.items()},
    "old mac line ends": {name: text.replace("\n", "\r") for name, text in PLAIN.items()},
    "blank lines": {name: "\n" + text.replace("\n", "\n  \n") + "\n\n" for name, text in PLAIN.items()},
    "trailing commas": {name: text.replace("\n", ", \n") for name, text in PLAIN.items()},
    "no last line end": {name: text.rstrip() for name, text in PLAIN.items()},
    "a byte order mark": {name: "\ufeff" + text for name, text in PLAIN.items()},
    "tabs and no commas": {name: text.replace(", ", "\t") for name, text in PLAIN.items()},
    "semicolons": {name: text.replace(", ", ";") for name, text in PLAIN.items()},
    "integers as floats": {
        name: text.replace("\n", ".0\n") if name in ("node_labels", "edge_labels", "graph_labels") else text
        for name, text in PLAIN.items()
    },
    "numbers from zero": {
        "A": "".join(f"{int(a) - 1}, {int(b) - 1}\n" for a, b in (line.split(",") for line in PLAIN["A"].splitlines())),
        "graph_indicator": "0\n0\n0\n0\n1\n1\n",
    },
    "gaps in the graph ids": {"graph_indicator": "3\n3\n3\n3\n9\n9\n"},
}


@pytest.mark.parametrize("name", QUIRKS)
def test_formatting_quirks_are_tolerated(name: str, plain: GraphSet, tmp_path: Path) -> None:
    assert written(tmp_path, **QUIRKS[name]).content_hash == plain.content_hash


def test_missing_reverse_edges_are_added(plain: GraphSet, tmp_path: Path) -> None:
    every_other = {
        name: "".join(line + "\n" for line in PLAIN[name].splitlines()[::2])
        for name in ("A", "edge_labels", "edge_attributes")
    }
    assert written(tmp_path, **every_other).content_hash == plain.content_hash


def test_duplicate_edges_are_merged(plain: GraphSet, tmp_path: Path) -> None:
    twice = {name: PLAIN[name] * 2 for name in ("A", "edge_labels", "edge_attributes")}
    assert written(tmp_path, **twice).content_hash == plain.content_hash


def test_parallel_edges_with_different_features_remain(tmp_path: Path) -> None:
    times = written(
        tmp_path,
        A=PLAIN["A"] + "5, 6\n6, 5\n",
        edge_labels=PLAIN["edge_labels"] + "1\n1\n",
        edge_attributes=PLAIN["edge_attributes"] + "9\n9\n",
    )
    assert times.edge_counts.tolist() == [8, 4]


def test_self_loops_are_left_out_and_counted(plain: GraphSet, tmp_path: Path) -> None:
    looped = without(tmp_path, "edge_labels", "edge_attributes", A=PLAIN["A"] + "2, 2\n3, 3\n2, 2\n")
    assert looped.edge_counts.tolist() == [8, 2]
    assert looped.column("self_loops").values.tolist() == [2, 0]
    assert "self_loops" not in plain.columns


def test_node_order_in_the_file_is_arbitrary(plain: GraphSet, tmp_path: Path) -> None:
    order = [5, 0, 4, 2, 1, 3]  # new node i is the old node order[i]
    place = {old: new for new, old in enumerate(order)}

    def rows(name: str) -> str:
        lines = PLAIN[name].splitlines()
        return "".join(lines[old] + "\n" for old in order)

    edges = [tuple(map(int, line.split(","))) for line in PLAIN["A"].splitlines()]
    graphs = written(
        tmp_path,
        A="".join(f"{place[a - 1] + 1}, {place[b - 1] + 1}\n" for a, b in edges),
        **{name: rows(name) for name in ("graph_indicator", "node_labels", "node_attributes")},
    )
    assert graphs.node_counts.tolist() == [4, 2]
    for number in (0, 1):
        built, old = nx_graph(graphs, number), nx_graph(plain, number)
        assert nx.is_isomorphic(built, old, node_match=dict.__eq__, edge_match=dict.__eq__)


def nx_graph(graphs: GraphSet, number: int) -> nx.Graph:
    built = nx.Graph()
    for node in range(graphs.node_ptr[number], graphs.node_ptr[number + 1]):
        label, attributes = graphs.column("node_label").values[node], graphs.column("node_attributes").values[node]
        built.add_node(node - graphs.node_ptr[number], label=int(label), at=tuple(attributes.tolist()))
    for edge in range(graphs.edge_ptr[number], graphs.edge_ptr[number + 1]):
        built.add_edge(*graphs.edge_index[:, edge].tolist(), label=int(graphs.column("edge_label").values[edge]))
    return built


def test_empty_graph_keeps_its_index(tmp_path: Path) -> None:
    graphs = written(tmp_path, graph_indicator="1\n1\n1\n1\n3\n3\n", graph_labels="1\n2\n1\n")
    assert graphs.node_counts.tolist() == [4, 0, 2]
    assert graphs.edge_counts.tolist() == [8, 0, 2]


def test_regression_targets_are_read(tmp_path: Path) -> None:
    graphs = without(tmp_path, "graph_labels", graph_attributes="1.5, 2\n-3, 4e-1\n")
    np.testing.assert_allclose(graphs.column("y").values, [[1.5, 2.0], [-3.0, 0.4]])
    assert graphs.column("y").types is None


def test_graph_labels_take_precedence_over_graph_attributes(tmp_path: Path) -> None:
    graphs = written(tmp_path, graph_attributes="1.5\n-3\n")
    assert graphs.column("y").types == 2
    assert graphs.column("graph_attributes").values.tolist() == [[1.5], [-3.0]]


def test_multiple_node_labels_are_read(tmp_path: Path) -> None:
    graphs = written(tmp_path, node_labels="0, 4\n1, 3\n2, 3\n0, 3\n0, 3\n0, 3\n")
    assert graphs.column("node_label").values[:2].tolist() == [[0, 1], [1, 0]]
    x = with_features(graphs, "labels").column("x")
    assert x.values[:2].tolist() == [[1, 0, 0, 0, 1], [0, 1, 0, 1, 0]]
    below = written(tmp_path, node_labels="0, -1\n1, 3\n2, 3\n0, 3\n0, 3\n0, 3\n").column("node_label")
    assert (below.values[0].tolist(), below.types) == ([0, 0], 5)


def test_temporal_labels_are_not_features(tmp_path: Path) -> None:
    graphs = without(tmp_path, "node_attributes", node_labels="0, 0\n0, 0, 5, 1\n0, 0\n0, 0\n0, 0\n0, 1\n")
    assert graphs.column("node_label").values[:2].tolist() == [[0, 0, -1, -1], [0, 0, 5, 1]]
    assert with_features(graphs).column("x").meaning == "degree, one-hot"


DAMAGE = {
    "S_A.txt line 3: 'two' is not an integer": {"A": PLAIN["A"].replace("2, 3", "two, 3", 1)},
    "S_A.txt line 5: '' is not an integer": {"A": PLAIN["A"].replace("3, 1", ", 1", 1)},
    "S_A.txt line 3: 3 numbers, but 2 in the lines before": {"A": PLAIN["A"].replace("2, 3", "2, 3, 4", 1)},
    "S_A.txt line 7: an edge has node 40, but there are 6 nodes": {"A": PLAIN["A"].replace("3, 4", "3, 40", 1)},
    "S_A.txt line 7: an edge has node -4, but there are 6 nodes": {"A": PLAIN["A"].replace("3, 4", "3, -4", 1)},
    "S_A.txt line 7: an edge goes from one graph to another": {"A": PLAIN["A"].replace("3, 4", "3, 5", 1)},
    "S_A.txt line 1: an edge has two ends, here are 1 numbers": {"A": "1\n2\n"},
    "S_A.txt line 2: 99999999999999999999 is too large": {"A": "1, 2\n99999999999999999999, 1\n"},
    "S_A.txt is empty": {"A": " \n\n"},
    "S_graph_indicator.txt line 5: the node belongs to graph 5, but there are 2 graphs": {
        "graph_indicator": "1\n1\n1\n2\n5\n-1\n"
    },
    "S_graph_indicator.txt line 1: one number per line was expected, here are 2": {
        "graph_indicator": "1, 1\n1, 1\n1, 1\n1, 1\n2, 1\n2, 1\n"
    },
    "S_node_labels.txt has 5 lines, but there are 6 nodes": {"node_labels": "1\n2\n3\n4\n5\n"},
    "S_edge_labels.txt has 9 lines, but there are 10 edges": {"edge_labels": "1\n" * 9},
    "S_node_labels.txt line 2: 'C' is not an integer": {"node_labels": "1\nC\n3\n4\n5\n6\n"},
    "S_node_labels.txt line 2: '1.5' is not an integer": {"node_labels": "1\n1.5\n3\n4\n5\n6\n"},
    "S_node_attributes.txt line 4: a number is not finite": {"node_attributes": "1\n2\n\nnan\n4\n5\n6\n"},
    "S_node_attributes.txt line 3: a number is not finite": {"node_attributes": "1\n2\n1e300\n4\n5\n6\n"},
    "S_node_attributes.txt line 2: '\\x00' is not a number": {"node_attributes": "1\n\0\n3\n4\n5\n6\n"},
    "S_node_attributes.txt line 4: 1 numbers, but 2 in the lines before": {
        "node_attributes": "1,1\n2,1\n3,1\n4\n5,1\n6,1\n"
    },
    "there are labels of 2 graphs, but attributes of 3": {"graph_attributes": "1\n2\n3\n"},
}


@pytest.mark.parametrize("message", DAMAGE)
def test_corrupt_file_is_reported_with_line_number(message: str, tmp_path: Path) -> None:
    with pytest.raises(CorruptFileError) as caught:
        written(tmp_path, **DAMAGE[message])
    assert str(caught.value) == message


def test_missing_tables_are_named(tmp_path: Path) -> None:
    with pytest.raises(CorruptFileError, match=r"S_A.txt is missing, without which there are no graphs"):
        without(tmp_path, "A")
    (tmp_path / "S_A.txt").write_text(PLAIN["A"])
    (tmp_path / "S_graph_labels.txt").unlink()
    with pytest.raises(CorruptFileError, match="neither graph_labels nor graph_attributes is there"):
        read_folder(tmp_path, "S")


@given(st.lists(st.tuples(st.integers(1, 9), st.floats(0, 1), st.integers(0, 99)), min_size=1, max_size=6), st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tu_format_round_trips(tmp_path: Path, shapes: list[tuple[int, float, int]], data: st.DataObject) -> None:
    graphs = [nx.gnp_random_graph(nodes, p, seed=seed) for nodes, p, seed in shapes]
    lines, first = [], 1
    for graph in graphs:
        for a, b in graph.edges:
            ends = [(a + first, b + first), (b + first, a + first)]
            remaining = data.draw(st.sampled_from(["both", "one", "other", "twice"]))
            lines += {"both": ends, "one": ends[:1], "other": ends[1:], "twice": ends * 2}[remaining]
        first += len(graph)
    if not lines:
        return
    folder = tmp_path
    (folder / "R_A.txt").write_text("".join(f"{a}, {b}\n" for a, b in data.draw(st.permutations(lines))))
    (folder / "R_graph_indicator.txt").write_text("".join(f"{n}\n" * len(g) for n, g in enumerate(graphs, 1)))
    (folder / "R_graph_labels.txt").write_text("1\n" * len(graphs))
    read = read_folder(folder, "R")
    for number, graph in enumerate(graphs):
        edges = read.edge_index[:, read.edge_ptr[number] : read.edge_ptr[number + 1]]
        assert {(int(a), int(b)) for a, b in edges.T} == {(a, b) for e in graph.edges for a, b in (e, e[::-1])}
        assert read.node_counts[number] == len(graph)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["MUTAG", "ENZYMES", "IMDB-BINARY", "AIDS", "PTC_FM", "Letter-med"])
def test_collection_matches_pyg(name: str, mirror: Path, tmp_path: Path) -> None:
    io = pytest.importorskip("torch_geometric.io")
    with zipfile.ZipFile(mirror / "TU" / f"{name}.zip") as archive:
        for member in archive.namelist():
            if member.endswith(".txt"):
                (tmp_path / Path(member).name).write_bytes(archive.read(member))
    ours = read_folder(tmp_path, name)
    theirs, slices, sizes = io.read_tu_data(str(tmp_path), name)
    np.testing.assert_array_equal(ours.node_counts, np.diff(slices.get("x", ours.node_ptr)))
    np.testing.assert_array_equal(ours.edge_counts, np.diff(slices["edge_index"]))
    np.testing.assert_array_equal(ours.column("y").values, theirs.y)
    # PyG has the edges by source, we have them by target; they go both ways.
    np.testing.assert_array_equal(ours.edge_index[::-1], theirs.edge_index)
    if sizes["num_node_attributes"]:
        np.testing.assert_array_equal(
            ours.column("node_attributes").values, theirs.x[:, : sizes["num_node_attributes"]]
        )
    if sizes["num_node_labels"]:
        actual = with_features(ours, "labels").column("x").values
        np.testing.assert_array_equal(actual, theirs.x[:, sizes["num_node_attributes"] :])
    if sizes["num_edge_labels"]:
        np.testing.assert_array_equal(with_features(ours).column("edge_attr").values, theirs.edge_attr)
