"""Links that are ranked among candidates of their own: imports, trainings, and data that are refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import Dataset, custom
from graphtrial.graphs import Column, GraphSet

NODES = 40


@pytest.fixture
def name(own_home: Path) -> Iterator[str]:
    yield "ranked"
    if "ranked" in custom.names():
        custom.delete("ranked")


def cited(**changed: Any) -> GraphSet:
    """Directed links to the next nodes of a ring, three negatives for each link of val and test."""
    source = np.arange(NODES)
    links = [np.stack([source, (source + step) % NODES], axis=1) for step in (1, 2, 3)]
    repeated = np.repeat(source, 3)
    negatives = np.stack([repeated, (repeated + 10 * np.tile([1, 2, 3], NODES)) % NODES], axis=1)
    rows = [(0, 1, links[0]), (1, 1, links[1]), (1, 0, negatives), (2, 1, links[2]), (2, 0, negatives)]
    sizes = [len(pairs) for _, _, pairs in rows]
    query = np.concatenate([source if y else repeated for _, y, _ in rows])
    position = 2 * np.pi * source / NODES
    columns = {
        "x": Column(np.stack([np.sin(position), np.cos(position)], 1).astype(np.float32), "node"),
        "pairs": Column(np.concatenate([pairs for *_, pairs in rows]), "pair"),
        "y": Column(np.repeat([y for _, y, _ in rows], sizes), "pair", types=2),
        "part": Column(np.repeat([part for part, *_ in rows], sizes).astype(np.uint8), "pair", types=4),
        "query": Column(query, "pair"),
        **changed,
    }
    return GraphSet.build([NODES], [NODES], links[0].T, {key: value for key, value in columns.items() if value})


def contacts(**changed: Any) -> GraphSet:
    """Rings whose opposite nodes are linked, 10 / 5 / 5 graphs."""
    sizes = np.array([6, 8] * 10)
    edges = np.concatenate([[np.arange(n), (np.arange(n) + 1) % n] for n in sizes], axis=1)
    links = [np.stack([np.arange(n), (np.arange(n) + n // 2) % n], axis=1) for n in sizes]
    others = [np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1) for n in sizes]
    angle = [2 * np.pi * np.arange(n) / n for n in sizes]
    columns = {
        "x": Column(np.concatenate([np.stack([np.sin(a), np.cos(a)], 1) for a in angle]).astype(np.float32), "node"),
        "pairs": Column(np.concatenate([np.concatenate(pair) for pair in zip(links, others, strict=True)]), "pair"),
        "y": Column(np.concatenate([np.repeat([1, 0], n) for n in sizes]), "pair", types=2),
        "pair_count": Column(2 * sizes, "graph"),
        "part": Column(np.repeat([0, 1, 2], [10, 5, 5]).astype(np.uint8), "graph", types=4),
        **changed,
    }
    return GraphSet.build(sizes, sizes, edges, {key: value for key, value in columns.items() if value})


def invoked(*arguments: object) -> Any:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(("make", "level", "sizes"), [(cited, "pair", (40, 160, 160)), (contacts, "graph", (10, 5, 5))])
def test_gcn_and_mlp_are_trained_and_compared(
    make: Any, level: str, sizes: tuple[int, ...], name: str, tmp_path: Path
) -> None:
    dataset = custom.import_graphs(name, make())
    assert (dataset.task.name, dataset.task.metric.title) == ("link-ranking", "MRR")
    assert (dataset.spec.split_level, dataset.splits[0].sizes) == (level, sizes)
    store = ("--store", tmp_path / "s.sqlite", "--json")
    rules = ("--seeds", 2, "--max-epochs", 40, "--rule", "optimizer.lr=0.01", "--set", "width=16", "--set", "layers=2")
    for model in ("gcn", "mlp"):
        row = invoked("run", name, model, *rules, *store)
        assert (row["metric"], row["higher_is_better"]) == ("MRR", True)
        assert set(row["extra_metrics"]) == {"Hits@1", "Hits@3", "Hits@10"}
        assert row["test"]["min"] > (0.7 if level == "pair" else 0.5)  # 0.52 and 0.37 at random
        assert row["train"]["min"] > (0.7 if level == "pair" else 0.5)
    with pytest.raises(AssertionError, match=r"ranks links within queries|has no nodes or pairs"):
        invoked("run", name, "svm", "--protocol", "wikics/svm", *store)
    (compared,) = invoked("compare", "gcn", "mlp", *store)
    assert (compared["metric"], compared["higher_is_better"]) == ("MRR", True)


def records(graphs: GraphSet) -> list[dict[str, Any]]:
    """The graphs as lines of JSON."""
    lines = []
    for graph in range(len(graphs)):
        one = graphs[graph]
        values = {key: column.values.tolist() for key, column in one.columns.items()}
        part = [["train", "val", "test"][number] for number in values["part"]]
        line = {"nodes": one.num_nodes, "edges": one.edge_index.T.tolist(), "x": values["x"], "pairs": values["pairs"]}
        line |= {"pair_y": values["y"], "split": part if len(graphs) == 1 else part[0]}
        lines.append(line | ({"query": values["query"]} if "query" in values else {}))
    return lines


def same(dataset: Dataset, graphs: GraphSet) -> bool:
    pairs = [dataset.graphs.column(key).values.tolist() for key in ("pairs", "y", "part")]
    queries = (
        "query" not in graphs.columns
        or dataset.graphs.column("query").values.tolist() == graphs.column("query").values.tolist()
    )
    return pairs == [graphs.column(key).values.tolist() for key in ("pairs", "y", "part")] and queries


@pytest.mark.parametrize("make", [cited, contacts])
def test_json_lines(make: Any, name: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(map(json.dumps, records(make()))))
    dataset = custom.import_files(name, "jsonl", [path])
    assert dataset.task.name == "link-ranking"
    assert same(dataset, make())


@pytest.mark.parametrize("make", [cited, contacts])
def test_csv_tables(make: Any, name: str, tmp_path: Path) -> None:
    tables = {"nodes": [], "edges": [], "pairs": [], "graphs": []}
    graphs = make()
    for number, line in enumerate(records(graphs)):
        tables["nodes"] += [[number, i, f'"{a},{b}"'] for i, (a, b) in enumerate(line["x"])]
        tables["edges"] += [[number, a, b] for a, b in line["edges"]]
        part = line["split"] if len(graphs) == 1 else [None] * len(line["pairs"])
        query = line.get("query", [None] * len(line["pairs"]))
        rows = zip(line["pairs"], line["pair_y"], query, part, strict=True)
        tables["pairs"] += [[v for v in (number, a, b, y, q, p) if v is not None] for (a, b), y, q, p in rows]
        tables["graphs"] += [[number, *([line["split"]] if len(graphs) > 1 else [])]]
    header = {"nodes": "graph,node,x", "edges": "graph,source,target", "pairs": "graph,source,target,y,query,split"}
    header |= {"graphs": "graph"} if len(graphs) == 1 else {"pairs": "graph,source,target,y", "graphs": "graph,split"}
    for key, rows in tables.items():
        (tmp_path / f"{key}.csv").write_text("\n".join([header[key], *(",".join(map(str, row)) for row in rows)]))
    dataset = custom.import_files(name, "csv", sorted(tmp_path.glob("*.csv"), reverse=True))
    assert dataset.task.name == "link-ranking"
    assert same(dataset, graphs)


def test_pairs_of_csv_tables_are_checked(name: str, tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    for text, message in (
        ("source,target\na,b\n", "row 1: the columns are source, target, y, query and the split"),
        ("source,target,y,weight\na,b,1,2\n", "row 1: the columns are source, target, y, query and the split"),
        ("source,target,y\na,c,1\n", "row 2: node 'c' is not in edges.csv"),
    ):
        (tmp_path / "pairs.csv").write_text(text)
        with pytest.raises(GraphTrialError, match=f"pairs.csv, {message}"):
            custom.import_files(name, "csv", sorted(tmp_path.glob("*.csv")))


def column(graphs: GraphSet, key: str, rows: Any, value: int) -> Column:
    """The column of a set with other values in some rows."""
    own = graphs.column(key)
    values = np.array(own.values)
    values[rows] = value
    return Column(values, own.level, own.meaning, own.types)


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        (lambda: cited(query=None), "a column 'query' with one integer per pair"),
        (lambda: cited(query=Column(np.zeros(360), "pair")), "a column 'query' with one integer per pair"),
        (lambda: cited(y=column(cited(), "y", 45, 0)), r"query 5 of the val part has no link \(label 1\)"),
        (lambda: cited(y=column(cited(), "y", slice(240, 243), 1)), r"query 0 of the test part has no negative pair"),
        (lambda: cited(part=column(cited(), "part", slice(0, 40), 3)), "the train part has no link"),
        (lambda: cited(part=column(cited(), "part", slice(40, 200), 3)), "the val part has no pairs"),
        (lambda: cited(part=None), "the pairs that come with the data need a split"),
        (lambda: cited(y=Column(np.full(360, 2), "pair", types=3)), "the label of a pair is 1 for a link, else 0"),
        (lambda: contacts(y=column(contacts(), "y", slice(None), 1)), "the training graphs have links only"),
        (lambda: contacts(y=column(contacts(), "y", slice(208, None), 0)), "no graph of the test part has a link"),
        (lambda: contacts(part=Column(np.arange(280) % 3, "pair", types=4)), "divides pairs, but .* graphs are to be"),
    ],
)
def test_pairs_that_cannot_be_ranked_are_one_line(graphs: Any, message: str, name: str) -> None:
    with pytest.raises(GraphTrialError, match=message) as caught:
        custom.import_graphs(name, graphs(), task="link-ranking")
    assert len(str(caught.value).splitlines()) == 1
    assert name not in custom.names()


def test_a_graph_without_links_is_left_out_of_the_mean(name: str) -> None:
    dataset = custom.import_graphs(name, contacts(y=column(contacts(), "y", slice(264, None), 0)))
    batch = dataset.task.evaluation_batch(next(iter(dataset.test.loader(5))), dataset.splits[0].test)
    assert set(batch.query_graph.tolist()) == {15, 16, 17, 18}


def test_graphs_without_pairs_are_no_links_to_rank(name: str) -> None:
    plain = GraphSet.build([3], [2], [[0, 1], [1, 2]])
    with pytest.raises(GraphTrialError, match="--task link-prediction holds out links of a graph by itself"):
        custom.import_graphs(name, plain, task="link-ranking")
    with pytest.raises(GraphTrialError, match="metric 'roc-auc' is not defined for link-ranking; choose hits, mrr"):
        custom.import_graphs(name, cited(), task="link-ranking:metric=roc-auc")


@pytest.mark.parametrize("task", ["link-ranking", "link-prediction"])
@pytest.mark.parametrize("label", [None, 0.5, 2, [1, 0]])
def test_labels_of_pairs_are_0_or_1(task: str, label: Any, name: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    lines = records(contacts())
    lines[3]["pair_y"][4] = label
    path.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(GraphTrialError, match=r"the label of a pair is 1 for a link|rows differ in length"):
        custom.import_files(name, "jsonl", [path], task=task)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"pair_y": None}, "'pairs' and 'pair_y' are needed together"),
        ({"pairs": None}, "'pairs' and 'pair_y' are needed together"),
        ({"pairs": [[0, 6]]}, r"line 1: pair \[0, 6\] leaves the 6 nodes"),
        ({"pairs": [[0, 1, 2]]}, r"'pairs' must be a list of \[source, target\] pairs"),
        ({"pair_y": [1]}, "'pair_y' has 1 rows for 12 pairs"),
    ],
)
def test_lines_with_pairs_that_do_not_fit(changed: dict[str, Any], message: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    first, *others = records(contacts())
    path.write_text("\n".join(map(json.dumps, [{**first, **changed}, *others])))
    with pytest.raises(GraphTrialError, match=message):
        custom.import_files(name, "jsonl", [path])


def test_floats_are_labels_of_pairs(name: str) -> None:
    graphs = contacts(y=Column(contacts().column("y").values.astype(np.float32), "pair"))
    dataset = custom.import_graphs(name, graphs, task="link-ranking")
    batch = dataset.task.evaluation_batch(next(iter(dataset.test.loader(5))), dataset.splits[0].test)
    target = dataset.task.target(batch)
    assert dataset.task.score(target[:, :1].float(), target) == 1.0


def test_link_prediction_in_many_graphs_scores_the_labelled_pairs(name: str) -> None:
    dataset = custom.import_graphs(name, contacts(), task="link-prediction:metric=roc-auc")
    assert (dataset.task.metric.title, dataset.spec.split_level) == ("ROC-AUC", "graph")
    (batch,) = dataset.test.loader(5)
    assert dataset.task.target(batch).tolist() == dataset.graphs[15:].column("y").values.tolist()
    assert dataset.task.score(torch.ones(len(batch.pairs), 1), dataset.task.target(batch)) == 0.5
