"""Export of datasets: read back to the same arrays, loaded by PyG, described for Croissant."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.datasets import Dataset
from graphtrial.datasets.custom import delete, generate, import_files, import_graphs, names
from graphtrial.datasets.export import export
from graphtrial.graphs import Column, GraphSet

KINDS = ["graphs", "nodes", "pairs", "labels"]


@pytest.fixture(autouse=True)
def forget(own_home: Path) -> Iterator[None]:
    yield
    for name in names():
        delete(name)


def dataset(kind: str) -> Dataset:
    """A dataset split by folds of graphs, by nodes, by pairs, or with missing labels and columns of any dtype."""
    if kind == "graphs":
        return generate(
            "mine", "csl", {"seed": 0, "nodes": 13, "skips": [2, 3], "copies": 6}, split={"folds": 3, "seed": 0}
        )
    draws = np.random.default_rng(0)
    if kind in ("nodes", "pairs"):
        ends = np.array([(u, v) for u in range(20) for v in range(20) if u != v and (u + v) % 3]).T
        columns = {"x": Column(draws.random((20, 3), np.float32), "node", "features")}
        columns |= {
            "y": Column(np.arange(20) % 2, "node", types=2),
            "weight": Column(draws.random(ends.shape[1]), "edge"),
        }
        graphs = GraphSet.build([20], [ends.shape[1]], ends, columns)
        return import_graphs("mine", graphs, task="link-prediction:metric=mrr" if kind == "pairs" else None)
    nodes, edges = [3, 0, 1] * 10, [2, 0, 0] * 10
    y = np.where(draws.random((30, 4)) < 0.3, np.nan, draws.random((30, 4)) < 0.5)
    columns = {
        "x": Column(draws.integers(0, 9, (40, 2)), "node", types=11),
        "edge_attr": Column(np.arange(20, dtype=np.uint8) % 3, "edge", types=4),
        "pos": Column(draws.random((40, 2, 2)), "node"),
        "old": Column(draws.random(30) < 0.5, "graph"),
        "half": Column(draws.random(40).astype(np.float16), "node"),
        "y": Column(y, "graph"),
    }
    return import_graphs("mine", GraphSet.build(nodes, edges, [[0, 1] * 10, [1, 2] * 10], columns))


def same(one: GraphSet, other: GraphSet) -> None:
    for name, array in one.structure.items():
        assert np.array_equal(array, other.structure[name]), name
    assert one.columns.keys() == other.columns.keys()
    for name, column in one.columns.items():
        again = other.column(name)
        assert (column.level, column.meaning, column.types) == (again.level, again.meaning, again.types), name
        assert column.values.dtype == again.values.dtype, name
        assert np.array_equal(column.values, again.values, equal_nan=column.values.dtype.kind == "f"), name


@pytest.mark.parametrize("kind", KINDS)
def test_exported_parquet_is_imported_to_the_same_arrays(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    first = dataset(kind)
    task = "link-prediction:metric=mrr" if kind == "pairs" else first.spec.recipe.task
    again = import_files("again", "parquet", export(first, tmp_path, "parquet"), task=task)
    same(first.with_splits(), again.graphs)
    assert len(first.splits) == len(again.splits)
    for one, other in zip(first.splits, again.splits, strict=True):
        assert all(np.array_equal(one.parts[part], other.parts[part]) for part in one.parts)


def test_layout_is_that_of_graphs_datasets(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    first = dataset("graphs")
    (path,) = export(first, tmp_path)
    row = parquet.read_table(path).to_pylist()[5]
    item = first.to_pyg()[5]
    assert row["num_nodes"] == 13
    assert row["edge_index"] == item.edge_index.tolist()
    assert row["node_feat"] == item.x.reshape(-1, 1).tolist()
    assert row["y"] == [int(item.y)]
    assert row["split"] == item.split


@pytest.mark.parametrize("kind", ["graphs", "nodes", "labels"])
def test_exported_tensors_are_loaded_by_pyg(kind: str, tmp_path: Path) -> None:
    data = pytest.importorskip("torch_geometric.data")
    first = dataset(kind)
    (path,) = export(first, tmp_path, "pyg")
    items = [data.Data(**item) for item in torch.load(path, weights_only=True)]
    for item, expected in zip(items, first.to_pyg(), strict=True):
        assert {*item.keys()} == {*expected.keys()}
        assert torch.equal(item.edge_index, expected.edge_index)
    if kind != "labels":  # whose graphs of no nodes have no level of their own
        again = import_files("again", "pyg", [path])
        assert [split.sizes for split in again.splits] == [split.sizes for split in first.splits]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_description_is_valid_croissant(kind: str, tmp_path: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    first = dataset(kind)
    table, path = export(first, tmp_path, "croissant")
    checked = mlcroissant.Dataset(jsonld=str(path))
    issues = checked.metadata.ctx.issues
    assert not issues.errors
    unknown = ("citeAs", "datePublished")  # not stated for imported data
    assert all("is recommended" in each and any(word in each for word in unknown) for each in issues.warnings)
    description = json.loads(path.read_text())
    assert description["license"] == "not stated"
    assert description["distribution"][0]["sha256"] == hashlib.sha256(table.read_bytes()).hexdigest()
    records = list(checked.records("graphs"))
    assert [record["graphs/num_nodes"] for record in records] == first.graphs.node_counts.tolist()
    ends = np.array(records[0]["graphs/edge_index"])
    assert ends.shape == (2, first.graphs.edge_counts[0])


def test_command_exports_and_overwrites_nothing(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    dataset("graphs")
    words = ["data", "export", "mine", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*words, "--to", "croissant", "--json"])
    assert done.exit_code == 0, done.output
    assert [Path(file).name for file in json.loads(done.stdout)["files"]] == ["graphs.parquet", "croissant.json"]
    again = CliRunner().invoke(app, words)
    assert again.exit_code == 2
    assert "exists already" in again.output
    unknown = CliRunner().invoke(app, [*words, "--to", "parket"])
    assert "Did you mean 'parquet'?" in unknown.output
