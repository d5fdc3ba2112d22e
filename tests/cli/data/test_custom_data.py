"""`graphtrial data generate`, `import` and `delete`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.data.generate import sizes_of
from graphtrial.cli.main import app
from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.custom import delete, names

RUNNER = CliRunner()


@pytest.fixture(autouse=True)
def forget(own_home: Path) -> Iterator[None]:
    yield
    for name in names():
        delete(name)


def run(*words: str, code: int = 0) -> str:
    result = RUNNER.invoke(app, ["data", *words])
    assert result.exit_code == code, result.output
    return result.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "task"),
    [
        (["sbm", "--p", "0.5", "--q", "0.35", "--graphs", "20", "--largest", "6"], "node-classification"),
        (["sbm", "--kind", "cluster", "--graphs", "10/2/2", "--largest", "6"], "node-classification"),
        (["cycles", "--graphs", "20"], "graph-classification"),
        (["graph-theory", "--graphs", "20"], "graph-theory"),
        (["tsp", "--graphs", "10", "--low", "10", "--high", "15"], "edge-classification"),
        (["csl", "--nodes", "13", "--skips", "2,3", "--copies", "6"], "graph-classification"),
    ],
)
def test_generated_dataset_is_described_listed_and_deleted(words: list[str], task: str) -> None:
    built = json.loads(run("generate", *words, "--name", "mine", "--json"))
    assert built["task"] == task
    facts = json.loads(run("info", "mine", "--json"))
    assert (facts["hash"], facts["graphs"]) == (built["hash"], built["graphs"])
    listed = json.loads(RUNNER.invoke(app, ["list", "datasets", "--json"]).output)
    assert [entry["task"] for entry in listed if entry["name"] == "mine"] == [task]
    assert "already" in run("generate", *words, "--name", "mine", code=2)
    assert json.loads(run("generate", *words, "--name", "mine", "--replace", "--json")) == built
    run("delete", "mine")
    assert "no dataset of your own" in run("delete", "mine", code=2)


def test_imported_data_become_a_dataset(tmp_path: Path) -> None:
    path = tmp_path / "graphs.jsonl"
    record = {"nodes": 3, "edges": [[0, 1], [1, 2]], "x": [0, 2, 1]}
    path.write_text("\n".join(json.dumps({**record, "y": i % 2}) for i in range(20)))
    built = json.loads(run("import", str(path), "--name", "mine", "--folds", "5", "--both-ways", "--json"))
    assert (built["graphs"], built["task"]) == (20, "graph-classification")
    facts = json.loads(run("info", "mine", "--json"))
    assert len(facts["splits"]) == 5
    assert facts["edges"]["mean"] == 4
    assert re.fullmatch("own/mine/[0-9a-f]{16}/graphs.jsonl", facts["files"][0]["name"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["generate", "sbm", "--name", "mine", "--kind", "other"], "--kind is pattern or cluster"),
        (["generate", "sbm", "--name", "mine", "--graphs", "5"], "--graphs is a number from 10"),
        (["generate", "csl", "--name", "mine", "--skips", "2,x"], "--skips are integers"),
        (["generate", "csl", "--name", "mine", "--skips", "2,30"], "a skip on 41 nodes goes from 2 to 20"),
        (["generate", "csl", "--name", "mine", "--skips", "2,20"], "give the same graph"),
        (["generate", "graph-theory", "--name", "mine", "--largest", "9"], "below --smallest"),
        (["import", "absent.jsonl", "--name", "mine"], "no file or folder"),
        (["import", __file__, "--name", "mine"], "--format"),
        (["import", __file__, "--name", "mine", "--format", "jsonl"], "line 1: no valid JSON"),
        (["import", __file__, "--name", "mine", "--format", "tu", "--both-ways"], "--both-ways is for"),
        (["import", __file__, "--name", "mine", "--format", "jsonl", "--split", "a/b"], "three fractions"),
        (["import", __file__, "--name", "mine", "--format", "jsonl", "--labels", __file__], "--labels is for"),
        (["import", __file__, "--name", "mine", "--format", "edgelist"], "words were expected"),
        (["import", __file__, "--name", "mine", "--format", "pyg", "--target", "y"], "--target is for csv, graphml"),
        (["import", __file__, "--format", "jsonl"], "name the new dataset by --name"),
        (["import", "pyg:../x"], "names no dataset of a library"),
        (["import", "ogb:ogbg-molhiv", "--target", "y"], "--target is for csv"),
    ],
)
def test_usage_errors_are_one_line(words: list[str], message: str) -> None:
    output = run(*words, code=2)
    assert message in output
    assert len(output.strip().splitlines()) == 1
    assert names() == []


def test_graph_counts_are_parsed() -> None:
    assert sizes_of("1000") == [800, 100, 100]
    assert sizes_of("5/1/2") == [5, 1, 2]
    for bad in ("9", "0", "a", "1/2", "1/2/0", ""):
        with pytest.raises(GraphTrialError):
            sizes_of(bad)
