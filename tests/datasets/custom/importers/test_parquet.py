"""Parquet files of the `graphs-datasets` layout of the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.custom.importers import format_of, read

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
PATH = {"edge_index": [[0, 1, 1, 2], [1, 0, 2, 1]], "edge_attr": [[1], [1], [2], [2]], "node_feat": [[0], [3], [1]]}
PATH |= {"y": [0.5], "num_nodes": 3}


def written(path: Path, *rows: dict[str, Any]) -> Path:
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


def test_rows_become_graphs_with_the_parts_of_their_files(tmp_path: Path) -> None:
    """As a clone of graphs-datasets/ZINC has them."""
    for part, count in {"train": 3, "validation": 2, "test": 1}.items():
        written(tmp_path / "data" / f"{part}-00000-of-00001.parquet", *[PATH] * count)
    kind, paths = format_of(tmp_path)
    graphs = read(kind, paths, {})
    assert graphs.column("part").values.tolist() == [2, 0, 0, 0, 1, 1]  # in the order of the files
    assert (graphs.column("x").values[:3].tolist(), graphs.column("x").types) == ([0, 3, 1], 4)
    assert (graphs.column("edge_attr").values[:4].tolist(), graphs.column("edge_attr").types) == ([1, 1, 2, 2], 3)
    assert (graphs.column("y").level, graphs.column("y").values.ravel().tolist()) == ("graph", [0.5] * 6)


def test_molecules_with_several_categories_and_missing_labels(tmp_path: Path) -> None:
    """As OGB's ogbg-molpcba is on the hub."""
    molecule = {**PATH, "node_feat": [[5, 0, 1], [6, 0, 2], [7, 1, 0]], "y": [[1.0, None]]}
    graphs = read("parquet", [written(tmp_path / "g.parquet", molecule, {**molecule, "y": [[0.0, 1.0]]})], {})
    assert (graphs.column("x").values.shape, graphs.column("x").types) == ((6, 3), 8)
    y = graphs.column("y").values
    assert (y.shape, y[1].tolist(), y[0, 1] != y[0, 1]) == ((2, 2), [0, 1], True)


def test_targets_and_split_of_nodes(tmp_path: Path) -> None:
    row = {**PATH, "y": [0, 1, 0], "split": ["train", "val", "test"]}
    graphs = read("parquet", [written(tmp_path / "g.parquet", row)], {})
    assert (graphs.column("y").level, graphs.column("y").types) == ("node", 2)
    assert (graphs.column("part").level, graphs.column("part").values.tolist()) == ("node", [0, 1, 2])


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({**PATH, "num_nodes": 2}, "g.parquet, row 2: 'edge_index' leaves the 2 nodes"),
        ({**PATH, "num_nodes": -1}, "g.parquet, row 2: 'num_nodes' must be"),
        ({**PATH, "num_nodes": None}, "g.parquet, row 2: 'num_nodes' must be"),
        ({**PATH, "num_nodes": 10**10}, "g.parquet, row 2 has 10,000,000,000 nodes"),
        ({**PATH, "edge_index": [[0], [1, 2]]}, "g.parquet, row 2: 'edge_index' is not a table"),
        ({**PATH, "edge_index": [[0], [1], [2]]}, "g.parquet, row 2: 'edge_index' must be two lists"),
        ({**PATH, "node_feat": [[0]]}, "g.parquet, row 2: 'node_feat' has 1 rows, not 3"),
        ({**PATH, "edge_attr": [[0], [1, 2], [3], [4]]}, "g.parquet, row 2: 'edge_attr' is not a table"),
        ({**PATH, "node_feat": [[None], [1], [2]]}, "g.parquet, row 2: 'node_feat' must hold finite numbers"),
        ({**PATH, "smell": "sweet"}, "g.parquet, row 2: 'smell' is not known"),
        ({**PATH, "train_set": [0]}, "row 1: 'train_set' looks like a split|row 2: 'train_set' looks like a split"),
        ({**PATH, "y": None}, "g.parquet, row 2: 'y' is in some rows but not in all"),
    ],
)
def test_errors_name_file_and_row(row: dict[str, Any], reason: str, tmp_path: Path) -> None:
    with pytest.raises(GraphTrialError, match=reason) as caught:
        read("parquet", [written(tmp_path / "g.parquet", {**dict.fromkeys(row), **PATH}, row)], {})
    assert len(str(caught.value).splitlines()) == 1


def test_files_of_no_part_raise(tmp_path: Path) -> None:
    paths = [written(tmp_path / name, PATH) for name in ("train-0.parquet", "more.parquet")]
    with pytest.raises(GraphTrialError, match=r"'more\.parquet' is of none"):
        read("parquet", paths, {})
