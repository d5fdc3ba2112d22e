"""Names, folds, features and catalog of the TU collection."""

from __future__ import annotations

import hashlib
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.tu_archives import write_paths

from graphtrial.core.errors import CorruptFileError, GraphTrialError, UnknownNameError
from graphtrial.datasets import DATASETS, load
from graphtrial.datasets.tu import CATALOG
from graphtrial.datasets.tu.collection import dataset_class, find
from graphtrial.datasets.tu.features import degree, with_features
from graphtrial.datasets.tu.folds import parse_folds, published_folds, seeded_folds
from graphtrial.graphs import Column, GraphSet
from graphtrial.tasks import GraphClassification, GraphRegression
from tools.normalize_published.raw import plain, read_csv


@pytest.mark.parametrize("name", ["enzymes", "ENZYMES", "Enzymes", "tu/ENZYMES", "TU/enzymes"])
def test_any_spelling_names_the_same_dataset(name: str) -> None:
    assert DATASETS.get(name) is DATASETS.get("enzymes")
    assert DATASETS.get(name).name == "enzymes"


def test_names_that_could_mean_another_dataset_keep_their_prefix() -> None:
    assert find("qm9") is None
    assert find("tu/QM9") is dataset_class("QM9", "")
    assert dataset_class("QM9", "").name == "tu/qm9"
    with pytest.raises(UnknownNameError, match="Did you mean 'tu/collab'"):
        DATASETS.get("collab")


def test_features_are_part_of_the_name() -> None:
    assert find("ENZYMES+labels") is find("tu/enzymes+labels")
    built = find("enzymes+labels")
    assert built is not None
    assert built.name == "enzymes+labels"
    assert find("enzymes+colour") is None


@pytest.mark.parametrize("name", ["tu/../ENZYMES", "tu//etc/passwd", "tu/", "tu/a b", "tu/.x", "tu/a\\b", "nothing"])
def test_invalid_names_raise(name: str) -> None:
    assert find(name) is None


def test_every_catalog_entry_is_a_dataset_with_statistics() -> None:
    assert len(CATALOG) == 128
    for entry in CATALOG.values():
        built = DATASETS.get(f"tu/{entry.name}")()
        assert built.published is not None
        assert built.published.graphs == entry.graphs
        assert built.title.startswith(f"{entry.name} of the TU collection")
        assert built.sources[0].files[0].url == f"https://www.chrsmrrs.com/graphkerneldatasets/{entry.name}.zip"
        assert (entry.classes is None) != (entry.targets is None)


def test_catalog_matches_the_paper() -> None:
    ours = {plain(name): entry for name, entry in CATALOG.items()} | {"alchemy": CATALOG["alchemy_full"]}
    rows = [row for row in read_csv("raw/datasets.csv") if row["paper"] == "tudataset"]
    assert len(rows) == 16
    for row in rows:
        entry = ours[plain(row["dataset"])]
        assert entry.graphs == int(row["graphs"])
        assert entry.nodes == pytest.approx(float(row["avg_nodes"]), abs=0.051)
        assert entry.edges == pytest.approx(float(row["avg_edges"]), abs=0.051)


# The published table of TUDataset, and the counts of features in table 10 of Benchmarking GNNs, first version.
@pytest.mark.parametrize(
    ("name", "features", "classes"),
    [("enzymes", 18, 6), ("proteins_full", 29, 2), ("nci1", 37, 2), ("mutag", 7, 2), ("imdb-multi", 89, 3)],
)
def test_default_features_match_the_references(name: str, features: int, classes: int, mirror: Path) -> None:
    dataset = load(name)
    assert dataset.graphs.column("x").width == features
    assert dataset.task.outputs == classes
    assert isinstance(dataset.task, GraphClassification)


def test_labels_and_attributes_combine(mirror: Path) -> None:
    attributes, labels, both = (load(f"enzymes{kind}").graphs for kind in ("", "+labels", "+all"))
    assert [g.column("x").width for g in (attributes, labels, both)] == [18, 3, 21]
    np.testing.assert_array_equal(labels.column("node_attributes").values, attributes.column("x").values)
    np.testing.assert_array_equal(both.column("x").values[:, 18:], labels.column("x").values)
    for graphs in (attributes, labels, both):
        np.testing.assert_array_equal(labels.column("x").values.argmax(axis=1), graphs.column("node_label").values)
    with pytest.raises(GraphTrialError, match="have no attributes"):
        load("mutag+attributes")


def test_graphs_without_features_get_degrees() -> None:
    star = np.array([[0] * 5 + [1, 2, 3, 4, 5], [1, 2, 3, 4, 5] + [0] * 5])
    x = degree(GraphSet.build([6], [10], star))
    assert x.values.argmax(axis=1).tolist() == [5, 1, 1, 1, 1, 1]
    large = 1001
    ends = np.stack([np.zeros(large, int), np.arange(1, large + 1)])
    hub = degree(GraphSet.build([large + 1], [2 * large], np.concatenate([ends, ends[::-1]], axis=1)))
    assert hub.values.shape == (large + 1, 1)
    assert hub.values.mean() == pytest.approx(0, abs=1e-4)
    assert hub.values.std() == pytest.approx(1, abs=1e-4)


def test_many_labels_remain_categorical() -> None:
    graphs = GraphSet.build([400], [0], np.zeros((2, 0), int)).with_column(
        "node_label", Column(np.arange(400, dtype=np.uint16), "node", "node label", types=400)
    )
    x = with_features(graphs).column("x")
    assert (x.types, x.width) == (400, 1)


@pytest.mark.parametrize("name", ["ENZYMES", "DD", "PROTEINS_full"])
def test_published_folds_are_the_published_files(name: str, mirror: Path) -> None:
    splits = parse_folds(published_folds(name))
    assert len(splits) == 10
    for part in ("train", "val", "test"):
        lines = (mirror / "TU_splits" / f"{name}_{part}.index").read_text().strip().splitlines()
        for split, line in zip(splits, lines, strict=True):
            assert split.parts[part].tolist() == sorted(int(number) for number in line.split(","))


def test_proteins_variants_have_equal_folds(mirror: Path) -> None:
    small, full = load("proteins"), load("proteins_full")
    np.testing.assert_array_equal(small.graphs.edge_index, full.graphs.edge_index)
    np.testing.assert_array_equal(small.graphs.column("y").values, full.graphs.column("y").values)
    for one, other in zip(small.splits, full.splits, strict=True):
        np.testing.assert_array_equal(one.test, other.test)


@given(st.lists(st.integers(0, 5), min_size=10, max_size=300))
@settings(max_examples=80, deadline=None)
def test_seeded_folds_are_stratified_and_complete(classes: list[int]) -> None:
    labels = np.array(classes)
    counts = np.bincount(labels, minlength=6)
    tested: Counter[int] = Counter()
    for split in seeded_folds("some", labels):
        batched = np.concatenate(list(split.parts.values()))
        assert sorted(batched.tolist()) == list(range(len(labels)))
        tested.update(split.test.tolist())
        for ids in split.parts.values():
            fraction = counts / len(labels)
            assert (np.abs(np.bincount(labels[ids], minlength=6) - fraction * len(ids)) < 1 + fraction).all()
    assert set(tested.values()) == {1}


def test_seeded_folds_are_frozen() -> None:
    splits = seeded_folds("MUTAG", np.arange(60) % 3)
    text = ";".join(",".join(map(str, split.test)) for split in splits)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "4e8c0cf7fbb8b0ca"
    other = seeded_folds("NCI1", np.arange(60) % 3)
    assert any((a.test != b.test).any() for a, b in zip(splits, other, strict=True))


@pytest.fixture
def unseen(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror with an archive of a set that no catalog lists: thirty paths, targets instead of classes."""
    junk = {"__MACOSX/My-Paths/My-Paths_A.txt": b"not this one", "My-Paths//README.txt": b"nor this"}
    folder = write_paths(tmp_path / "mirror", "My-Paths", "My-Paths//", junk)
    monkeypatch.setenv("GRAPHTRIAL_MIRROR", str(tmp_path / "mirror"))
    return folder


def test_dataset_outside_the_catalog_loads(unseen: Path) -> None:
    dataset = load("tu/My-Paths")
    assert dataset.name == "tu/My-Paths"
    assert len(dataset.graphs) == 30
    assert isinstance(dataset.task, GraphRegression)
    assert dataset.splits[0].sizes == (24, 3, 3)
    assert load("tu/My-Paths").hash == dataset.hash
    np.testing.assert_array_equal(dataset.graphs.column("x").values[:3].argmax(axis=1), [1, 2, 1])


def test_archive_without_the_tables_raises(unseen: Path, own_home: Path) -> None:
    with zipfile.ZipFile(unseen / "Other.zip", "w") as archive:
        archive.writestr("Other/Other_A.txt", "1, 2\n")
    with pytest.raises(CorruptFileError, match=r"Other.zip does not hold Other_graph_indicator.txt"):
        load("tu/Other")
    assert not [p for p in (own_home / "datasets").rglob("*") if p.is_dir() and "Other" in p.name]
