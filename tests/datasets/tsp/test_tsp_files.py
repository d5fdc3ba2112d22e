"""Tours from text, graphs from tours, and sets of both."""

from __future__ import annotations

import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors
from tests.helpers.tours import random_points

from graphtrial.core.errors import CorruptFileError
from graphtrial.datasets import DATASETS, load
from graphtrial.datasets.tsp.dataset import ARCHIVE, TSP
from graphtrial.datasets.tsp.graphs import tour_graphs
from graphtrial.datasets.tsp.text import read_line


def line_of(points: np.ndarray, tour: np.ndarray) -> str:
    """An instance as it was published: ids from 1, the tour closed, a space at the end."""
    closed = [*(tour + 1).tolist(), int(tour[0]) + 1]
    return f"{' '.join(repr(float(c)) for c in points.reshape(-1))} output {' '.join(map(str, closed))} \n"


def test_instance_line_round_trips() -> None:
    points, tour = random_points(60, seed=0), np.random.default_rng(0).permutation(60)
    read_points, read_tour = read_line(line_of(points, tour))
    np.testing.assert_array_equal(read_points, points)
    np.testing.assert_array_equal(read_tour, tour)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "0.1 0.2 0.3 0.4",
        "0.1 0.2 0.3 output 1 2 1",
        "0.1 0.1 0.2 0.2 0.3 0.3 0.4 0.4 0.5 0.5 output 1 2 3 4 5",
        "0.1 0.1 0.2 0.2 0.3 0.3 0.4 0.4 0.5 0.5 output 1 2 3 4 4 1",
        "0.1 0.1 0.2 0.2 0.3 0.3 0.4 0.4 0.5 0.5 output 1 2 3 4 6 1",
        "0.1 0.1 0.2 0.2 0.3 0.3 0.4 0.4 0.5 nan output 1 2 3 4 5 1",
        "0.1 0.1 0.2 0.2 0.3 0.3 0.4 0.4 0.5 abc output 1 2 3 4 5 1",
        "0.1 0.1 0.2 0.2 0.3 0.3 0.4 0.4 0.5 0.5 output 1 2 3 4 5.5 1",
    ],
)
def test_corrupt_line_raises(line: str) -> None:
    with pytest.raises(ValueError):
        read_line(line)


def test_graph_joins_each_point_to_its_25_nearest_neighbours() -> None:
    points, tour = random_points(70, seed=1), np.random.default_rng(1).permutation(70)
    graphs = tour_graphs([(points, tour)])
    distance, near = NearestNeighbors(n_neighbors=26).fit(points).kneighbors(points)
    theirs = {(i, int(j)): float(d) for i in range(70) for j, d in zip(near[i, 1:], distance[i, 1:], strict=True)}
    ends = list(map(tuple, graphs.edge_index.T.tolist()))
    assert sorted(ends) == sorted(theirs)
    np.testing.assert_allclose(graphs.column("edge_attr").values[:, 0], [theirs[end] for end in ends], rtol=1e-6)
    cycle = nx.cycle_graph(tour.tolist())
    np.testing.assert_array_equal(graphs.column("y").values, [cycle.has_edge(*end) for end in ends])
    np.testing.assert_array_equal(graphs.column("x").values, points.astype(np.float32))


def test_few_points_form_a_complete_graph() -> None:
    graphs = tour_graphs([(random_points(6, seed=0), np.arange(6))])
    assert graphs.num_edges == 30
    assert graphs.column("y").values.sum() == 12


@DATASETS.register("tsp-of-a-test")
class FewTours(TSP):
    """The published files, but a few lines."""

    name = "tsp-of-a-test"
    sizes = (3, 2, 1)
    published = None


def archive(folder: Path, lines: dict[str, list[str]]) -> None:
    path = folder / ARCHIVE.name
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w") as opened:
        for part, rows in lines.items():
            opened.writestr(f"TSP/tsp50-500_{part}.txt", "".join(rows))
        opened.writestr("TSP/readme.txt", "something else")


def instances(count: int, seed: int) -> list[str]:
    return [line_of(random_points(50 + n, seed), np.random.default_rng(n).permutation(50 + n)) for n in range(count)]


def test_published_archive_is_preferred_and_keeps_split_order(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = {
        part: instances(count, seed) for seed, (part, count) in enumerate({"train": 4, "val": 2, "test": 1}.items())
    }
    archive(tmp_path / "mirror", lines)
    monkeypatch.setenv("GRAPHTRIAL_MIRROR", str(tmp_path / "mirror"))
    built = load("tsp-of-a-test")
    assert built.provenance["source"] == "TSP.zip"
    assert built.splits[0].sizes == (3, 2, 1)
    requested = [
        lines[part][number]
        for part, number in [("train", 0), ("train", 1), ("train", 2), ("val", 0), ("val", 1), ("test", 0)]
    ]
    x = np.split(built.graphs.column("x").values, built.graphs.node_ptr[1:-1])
    for points, line in zip(x, requested, strict=True):
        np.testing.assert_array_equal(points, read_line(line)[0].astype(np.float32))


@pytest.mark.parametrize(("damage", "message"), [("short", "holds 1 of 2 instances"), ("line", "line 2 is not")])
def test_corrupt_archive_raises(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str, message: str
) -> None:
    lines = {"train": instances(3, 0), "val": instances(2, 1), "test": instances(1, 2)}
    lines["val"] = lines["val"][:1] if damage == "short" else [lines["val"][0], "0.5 0.5 output 1 1\n"]
    archive(tmp_path / "mirror", lines)
    monkeypatch.setenv("GRAPHTRIAL_MIRROR", str(tmp_path / "mirror"))
    with pytest.raises(CorruptFileError, match=message):
        load("tsp-of-a-test")
    assert not list((own_home / "datasets").glob("tsp-of-a-test-*/"))


def test_small_dataset_matches_the_generator_of_the_large_one(session_home: Path) -> None:
    built = load("tsp-small")
    graphs = built.graphs
    assert built.splits[0].sizes == (160, 20, 20)
    assert (graphs.node_counts.min(), graphs.node_counts.max()) >= (50, 90)
    np.testing.assert_array_equal(graphs.edge_counts, 25 * graphs.node_counts)
    assert graphs.column("proved").values.all()
    # Nearly every edge of a shortest tour leads to one of the 25 nearest neighbours, in both directions.
    assert 1.99 < graphs.column("y").values.sum() / graphs.num_nodes <= 2
    # The shortest tour through n random points is 0.7124 sqrt(n) long (1 + 0.33 / n), and longer for the border
    # (Johnson, McGeoch, Rothberg 1996): by about 0.55 at these sizes.
    expected = 0.7124 * np.sqrt(graphs.node_counts) * (1 + 0.33 / graphs.node_counts) + 0.55
    assert (graphs.column("length").values / expected).mean() == pytest.approx(1, abs=0.1)
