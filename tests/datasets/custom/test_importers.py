"""Readers of users' files: round trips, and one-line errors with the position."""

from __future__ import annotations

import json
import math
import pickle
import shutil
import zipfile
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.datasets import load
from graphtrial.datasets.custom import delete, import_files
from graphtrial.datasets.custom.importers import format_of, read
from graphtrial.graphs import GraphSet, to_networkx, to_pyg
from graphtrial.studies import ModelEntry, Study
from graphtrial.training.trainer import train
from graphtrial.trials.trial import make_job

PATH = {"nodes": 3, "edges": [[0, 1], [1, 2]], "x": [0, 2, 1], "edge_attr": [[0.5], [1.5]], "y": 1}
DOT = {"nodes": 1, "edges": [], "x": [0], "edge_attr": [], "y": 0}


def lines(folder: Path, *records: Any) -> Path:
    path = folder / "graphs.jsonl"
    path.write_text("\n".join(record if isinstance(record, str) else json.dumps(record) for record in records))
    return path


def test_json_lines_become_graphs(tmp_path: Path) -> None:
    graphs = read("jsonl", [lines(tmp_path, PATH, "", DOT)], {})
    assert graphs.node_counts.tolist() == [3, 1]
    assert graphs.edge_index.tolist() == [[0, 1], [1, 2]]
    assert (graphs.column("x").types, graphs.column("y").types) == (3, 2)
    assert graphs.column("edge_attr").values.tolist() == [[0.5], [1.5]]
    assert graphs.column("y").values.tolist() == [1, 0]


def test_both_ways_adds_reverse_edges_and_keeps_self_loops(tmp_path: Path) -> None:
    loop = {**PATH, "edges": [[0, 1], [2, 2]]}
    graphs = read("jsonl", [lines(tmp_path, loop)], {"both_ways": True})
    assert sorted(map(tuple, graphs.edge_index.T.tolist())) == [(0, 1), (1, 0), (2, 2)]
    by_edge = dict(zip(map(tuple, graphs.edge_index.T.tolist()), graphs.column("edge_attr").values[:, 0], strict=True))
    assert by_edge == {(0, 1): 0.5, (1, 0): 0.5, (2, 2): 1.5}


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ("{", "no valid JSON"),
        ([1], "a record of named values"),
        ({**DOT, "nodes": -1}, "'nodes' must be"),
        ({**DOT, "nodes": 1.5}, "'nodes' must be"),
        ({**DOT, "nodes": True}, "'nodes' must be"),
        ({**DOT, "edges": [[0, 1]], "edge_attr": [[1.0]]}, r"edge \[0, 1\] leaves the 1 nodes"),
        ({**DOT, "edges": [[0]], "edge_attr": [[1.0]]}, "pairs of integers"),
        ({**DOT, "edges": [[0, 0], [0]]}, "differ in length"),
        ({**DOT, "edges": [["a", "b"]]}, "numbers only"),
        ({**DOT, "x": [1, 2]}, "'x' has 2 rows for 1 nodes"),
        ({**DOT, "x": [[1, 2]]}, "'x' has 2 numbers per row, 1 before"),
        ({**DOT, "x": 7}, "'x' must be a list"),
        ({**DOT, "y": "red"}, "'y' must hold numbers"),
        ({**DOT, "y": 1e999}, "not finite|no valid JSON"),
        ({**DOT, "colour": 1}, "'colour' is not known"),
        ({key: value for key, value in DOT.items() if key != "y"}, "'y' is missing"),
        ({**DOT, "split": "train"}, "'split' is here, but not in the first graph"),
    ],
)
def test_invalid_line_is_reported_with_number_and_reason(tmp_path: Path, record: Any, reason: str) -> None:
    with pytest.raises(CorruptFileError, match=rf"graphs.jsonl, line 2: .*({reason})"):
        read("jsonl", [lines(tmp_path, PATH, record)], {})


def test_splits_in_the_file_are_used(tmp_path: Path, own_home: Path) -> None:
    parts = ["test", "train", "val", "none", "train"]
    path = lines(tmp_path, *({**PATH, "split": part} for part in parts))
    built = import_files("mine", "jsonl", [path])
    assert [ids.tolist() for ids in built.splits[0].parts.values()] == [[1, 4], [2], [0]]
    delete("mine")
    whole = {"nodes": 4, "edges": [[0, 1]], "node_y": [0, 1, 1, 0], "split": ["train", "val", "test", "none"]}
    built = import_files("mine", "jsonl", [lines(tmp_path, whole)])
    assert built.spec.split_level == "node"
    assert [ids.tolist() for ids in built.splits[0].parts.values()] == [[0], [1], [2]]
    delete("mine")
    with pytest.raises(CorruptFileError, match="line 1: 'split' must be one of"):
        import_files("mine", "jsonl", [lines(tmp_path, {**PATH, "split": "trained"})])


def test_targets_may_be_node_level_edge_level_or_multiple(tmp_path: Path, own_home: Path) -> None:
    plain = {"nodes": 3, "edges": [[0, 1], [1, 2]]}
    for target, task, outputs in (
        ({"y": 0.5}, "graph-regression", 1),
        ({"y": [0.5, 1.5]}, "graph-regression", 2),
        ({"node_y": [0, 1, 2]}, "node-classification", 3),
        ({"edge_y": [0, 1]}, "edge-classification", 2),
    ):
        built = import_files("mine", "jsonl", [lines(tmp_path, *[{**plain, **target}] * 10)])
        assert (built.task.name, built.task.outputs) == (task, outputs)
        assert built.graphs.column("x").values.tolist() == [1.0] * 30
        delete("mine")
    with pytest.raises(CorruptFileError, match="only one of y, node_y, edge_y"):
        import_files("mine", "jsonl", [lines(tmp_path, {**plain, "y": 1, "node_y": [1, 2, 3]})])


def test_null_is_a_missing_label(tmp_path: Path, own_home: Path) -> None:
    plain = {"nodes": 3, "edges": [[0, 1], [1, 2]]}
    records = [{**plain, "y": [i % 2, None if i % 3 else 1, 0.5 * (i % 4 > 1) * 2]} for i in range(40)]
    built = import_files("mine", "jsonl", [lines(tmp_path, *records)], task="graph-binary-classification")
    assert (built.task.outputs, built.task.metric.title) == (3, "ROC-AUC")
    assert np.isnan(built.graphs.column("y").values).sum(axis=0).tolist() == [0, 26, 0]
    with pytest.raises(CorruptFileError, match="'x' must hold numbers"):
        read("jsonl", [lines(tmp_path, {**plain, "x": [1, None, 2], "y": 1})], {})
    rules = {"stopping.max_epochs": 2}
    trial = Study(
        "t", "mine", (ModelEntry("gin", {"width": 8, "layers": 2}),), "bgnn-v5/tu", seeds=1, splits=1, rules=rules
    ).trials()[0]
    outcome = train(make_job(trial))
    assert outcome.status == "done"
    assert all(math.isfinite(epoch.train_loss) for epoch in outcome.epochs)
    assert 0 <= outcome.scores["test"] <= 1
    delete("mine")


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("graph-classification:metric=f1-macro", "macro F1"),
        ("graph-classification:metric=balanced-accuracy,class_weighted=true", "weighted accuracy"),
    ],
)
def test_task_may_name_its_metric(text: str, metric: str, tmp_path: Path, own_home: Path) -> None:
    records = [{"nodes": 2, "edges": [[0, 1]], "y": i % 3} for i in range(30)]
    built = import_files("mine", "jsonl", [lines(tmp_path, *records)], task=text)
    assert (built.task.metric.title, built.task.outputs, load("mine").task.metric.title) == (metric, 3, metric)
    delete("mine")
    with pytest.raises(GraphTrialError, match="metric 'mae' is not defined for graph-classification"):
        import_files("mine", "jsonl", [lines(tmp_path, *records)], task="graph-classification:metric=mae")


junk = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*PATH, "split", "a"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.slow
@given(
    st.lists(
        st.fixed_dictionaries({}, optional=dict.fromkeys([*PATH, "node_y", "edge_y", "split"], junk)) | junk,
        max_size=3,
    )
)
@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_arbitrary_json_is_read_or_gives_one_line_error(tmp_path: Path, records: list[Any]) -> None:
    refused_or_read("jsonl", lines(tmp_path, *records))


@given(st.binary(max_size=200), st.sampled_from(["jsonl", "parquet", "pyg", "graphml", "tu", "edgelist"]))
@settings(max_examples=90, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_arbitrary_bytes_are_read_or_give_one_line_error(tmp_path: Path, data: bytes, kind: str) -> None:
    path = tmp_path / ("graphs.zip" if kind == "tu" else "graphs")
    path.write_bytes(data)
    refused_or_read(kind, path)


@given(
    st.floats(0, 1, exclude_max=True), st.integers(0, 255), st.booleans(), st.sampled_from(["jsonl", "pyg", "graphml"])
)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_corrupt_or_truncated_file_is_read_or_gives_one_line_error(
    tmp_path: Path, where: float, byte: int, cut: bool, kind: str
) -> None:
    path = lines(tmp_path, PATH, DOT)
    if kind == "pyg":
        path = tmp_path / "graphs.pt"
        torch.save(
            [{"edge_index": torch.tensor([[0, 1], [1, 2]]), "x": torch.ones(3, 2), "y": torch.tensor([1])}], path
        )
    elif kind == "graphml":
        path = tmp_path / "graphs.graphml"
        nx.write_graphml(nx.path_graph(3, create_using=nx.Graph(y="red")), path)
    data = bytearray(path.read_bytes())
    position = int(where * len(data))
    data[position:] = b"" if cut else bytes([byte]) + data[position + 1 :]
    path.write_bytes(data)
    refused_or_read(kind, path)


def refused_or_read(kind: str, path: Path) -> None:
    options = {"target": "y"} if kind == "graphml" else {}
    message = ""
    try:
        built = read(kind, [path, path] if kind == "edgelist" else [path], options)
    except GraphTrialError as error:
        message = str(error)
    else:
        assert isinstance(built, GraphSet)
    assert len(message.splitlines()) <= 1


def test_parquet_matches_json_lines(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "graphs.parquet"
    parquet.write_table(arrow.Table.from_pylist([PATH, DOT, PATH]), path)
    built = read("parquet", [path], {})
    assert built.content_hash == read("jsonl", [lines(tmp_path, PATH, DOT, PATH)], {}).content_hash
    parquet.write_table(arrow.Table.from_pylist([PATH, {**DOT, "nodes": 0}]), path)
    with pytest.raises(CorruptFileError, match=r"graphs.parquet, row 2: 'x' has 1 rows for 0 nodes"):
        read("parquet", [path], {})
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(CorruptFileError, match="not an intact Parquet file"):
        read("parquet", [path], {})


def test_torch_file_matches_pyg(tmp_path: Path) -> None:
    pytest.importorskip("torch_geometric")
    original = read("jsonl", [lines(tmp_path, PATH, DOT, PATH)], {})
    path = tmp_path / "graphs.pt"
    torch.save([data.to_dict() for data in to_pyg(original)], path)
    built = read("pyg", [path], {})
    np.testing.assert_array_equal(built.edge_index, original.edge_index)
    for name in ("x", "edge_attr", "y"):
        np.testing.assert_array_equal(built.column(name).values, original.column(name).values)
        assert built.column(name).types == original.column(name).types


def test_objects_in_a_torch_file_raise_with_advice(tmp_path: Path) -> None:
    data = pytest.importorskip("torch_geometric.data")
    path = tmp_path / "graphs.pt"
    torch.save([data.Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]))], path)
    with pytest.raises(CorruptFileError, match="to_dict"):
        read("pyg", [path], {})


def test_malicious_torch_file_executes_no_code(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "touched",))

    path = tmp_path / "graphs.pt"
    torch.save([{"edge_index": Evil()}], path)
    with pytest.raises(CorruptFileError, match="more than tensors"):
        read("pyg", [path], {})
    path.write_bytes(pickle.dumps([Evil()]))
    with pytest.raises(CorruptFileError):
        read("pyg", [path], {})
    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        ({}, "must hold a list"),
        ([], "must hold a list"),
        ([1], "graph 0: a dictionary"),
        ([{}], "graph 0: edge_index must be"),
        ([{"edge_index": torch.zeros(2, 1)}], "integers"),
        ([{"edge_index": torch.zeros(3, 1).long()}], r"shape \[2, edges\]"),
        ([{"edge_index": torch.tensor([[0], [5]]), "num_nodes": 2}], "an edge 0 -> 5"),
        ([{"edge_index": torch.zeros(2, 0).long(), "num_nodes": "two"}], "num_nodes"),
        ([{"edge_index": torch.zeros(2, 0).long(), "x": torch.zeros(1, dtype=torch.complex64)}], "real numbers"),
    ],
)
def test_tensors_that_are_not_graphs_raise(tmp_path: Path, items: Any, reason: str) -> None:
    path = tmp_path / "graphs.pt"
    torch.save(items, path)
    with pytest.raises(CorruptFileError, match=f"graphs.pt.*{reason}"):
        read("pyg", [path], {})


def test_graphml_matches_networkx(tmp_path: Path) -> None:
    built = []
    for number in range(3):
        graph = nx.gnp_random_graph(6, 0.5, seed=number)
        nx.set_node_attributes(graph, {node: {"size": 0.5 * node, "kind": "ab"[node % 2]} for node in graph})
        graph.graph["colour"] = ["red", "blue", "red"][number]
        nx.write_graphml(graph, tmp_path / f"{number}.graphml")
        built.append(graph)
    kind, paths = format_of(tmp_path)
    assert kind == "graphml"
    graphs = read(kind, paths, {"node_features": ["size"], "target": "colour"})
    assert graphs.column("y").values.tolist() == [1, 0, 1]
    assert graphs.column("x").values[:6, 0].tolist() == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]
    for number, graph in enumerate(built):
        assert set(to_networkx(graphs, number).edges()) == set(graph.to_directed().edges)
    nodes = read(kind, paths, {"node_target": "kind"})
    assert nodes.column("y").values.tolist() == [0, 1, 0, 1, 0, 1] * 3
    with pytest.raises(GraphTrialError, match="--target or --node-target; the graphs have \\['colour'\\]"):
        read(kind, paths, {})
    with pytest.raises(CorruptFileError, match="no attribute 'shape'"):
        read(kind, paths, {"target": "shape"})
    with pytest.raises(CorruptFileError, match="is not a number but 'a'"):
        read(kind, paths, {"node_features": ["kind"], "target": "colour"})


def test_edge_list_with_labels_is_read(tmp_path: Path) -> None:
    edges, labels = tmp_path / "web.edgelist", tmp_path / "web.labels"
    edges.write_text("# who cites whom\na b\nb,c\n\nc\tc\n")
    labels.write_text("a math\nb physics\nc math # both\n")
    graphs = read("edgelist", [edges, labels], {"both_ways": True})
    assert sorted(map(tuple, graphs.edge_index.T.tolist())) == [(0, 1), (1, 0), (1, 2), (2, 1), (2, 2)]
    assert graphs.column("y").values.tolist() == [0, 1, 0]
    for text, reason in (
        ("a", "line 1: 2 to 3 words"),
        ("a b\na d", "line 2: node 'd' is not in"),
        ("a b c d", "here are 4"),
        ("a b c", "the time .c. is no number"),
    ):
        edges.write_text(text)
        with pytest.raises(CorruptFileError, match=f"web.edgelist, {reason}" if "line" in reason else reason):
            read("edgelist", [edges, labels], {})
    labels.write_text("a x\na y")
    with pytest.raises(CorruptFileError, match="line 2: node 'a' was named before"):
        read("edgelist", [edges, labels], {})
    edges.write_text("a b\n")
    assert "y" not in read("edgelist", [edges], {}).columns


@pytest.mark.slow
def test_tu_folder_and_zip_give_the_same_graphs(tmp_path: Path, own_home: Path) -> None:
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "TOY_A.txt").write_text("1, 2\n2, 1\n3, 4\n4, 3\n" + "".join(f"{i}, {i + 1}\n" for i in range(5, 60, 2)))
    (folder / "TOY_graph_indicator.txt").write_text("".join(f"{1 + i // 2}\n" for i in range(60)))
    (folder / "TOY_graph_labels.txt").write_text("".join(f"{i % 2}\n" for i in range(30)))
    (folder / "TOY_node_labels.txt").write_text("".join(f"{i % 3}\n" for i in range(60)))
    archive = tmp_path / "TOY.zip"
    with zipfile.ZipFile(archive, "w") as out:
        for file in folder.iterdir():
            out.write(file, f"TOY//{file.name}")
    kind, paths = format_of(folder)
    one = import_files("toy-folder", kind, paths)
    other = import_files("toy-zip", *format_of(archive))
    assert one.graphs.content_hash == other.graphs.content_hash
    assert len(one.graphs) == 30
    shutil.rmtree(folder)  # what was imported does not need it any more
    from graphtrial.datasets import prepare

    assert prepare("toy-folder", force=True).hash == one.hash
    for name in ("toy-folder", "toy-zip"):
        delete(name)
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("README", "nothing")
    with pytest.raises(CorruptFileError, match=r"no NAME_A\.txt"):
        read("tu", [archive], {})


def test_formats_are_inferred_from_the_name(tmp_path: Path) -> None:
    for name, kind in (("a.jsonl", "jsonl"), ("a.PT", "pyg"), ("a.zip", "tu"), ("a.parquet", "parquet")):
        path = tmp_path / name
        path.touch()
        assert format_of(path) == (kind, [path])
    (tmp_path / "a.xyz").touch()
    with pytest.raises(GraphTrialError, match="--format"):
        format_of(tmp_path / "a.xyz")
    with pytest.raises(GraphTrialError, match="no file or folder"):
        format_of(tmp_path / "absent")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(GraphTrialError, match="neither a TU folder"):
        format_of(empty)
