"""Wiki-CS from a file of the published format, against PyG; the stand-in against the published statistics."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphtrial.core.errors import CorruptFileError
from graphtrial.datasets import DATASETS, load
from graphtrial.datasets.generators import wikics as generator
from graphtrial.datasets.statistics import link_counts
from graphtrial.datasets.wikics import DATA, random_masks, read_data
from graphtrial.graphs import GraphSet

NODES, SPLITS = 60, 20


def content() -> dict[str, Any]:
    """A file of the published format with 60 articles: mutual links, self-links and links that are there twice."""
    chance = np.random.default_rng(3)
    links = [sorted(chance.choice(NODES, 5, replace=False).tolist()) for _ in range(NODES)]
    links[0], links[1], links[2] = [0, 1, 1], [0, 2], []
    parts = np.stack([chance.permutation(NODES) for _ in range(SPLITS)])
    test = np.zeros(NODES, bool)
    test[:30] = True
    ranks = np.where(test, -1, np.cumsum(~test) - 1)
    places = [np.where(test, -1, row.argsort()[ranks] % 30) for row in parts]
    return {
        "features": chance.normal(size=(NODES, 300)).round(4).tolist(),
        "labels": (np.arange(NODES) % 10).tolist(),
        "links": links,
        "train_masks": [((p >= 0) & (p < 3)).tolist() for p in places],
        "val_masks": [((p >= 3) & (p < 16)).tolist() for p in places],
        "stopping_masks": [(p >= 16).tolist() for p in places],
        "test_mask": test.tolist(),
        "label_names": ["ignored"],
    }


@pytest.fixture
def data() -> dict[str, Any]:
    """The content of a small file."""
    return content()


def parsed(name: str, data: dict[str, Any], folder: Path) -> tuple[GraphSet, Any]:
    path = folder / "data.json"
    path.write_text(json.dumps(data))
    spec, raw = DATASETS.get(name)(), {DATA.name: path}
    graphs = spec.parse(spec.sources[0], raw)
    return graphs, spec.split(graphs, spec.sources[0], raw)


def test_graph_matches_pyg(data: dict[str, Any], tmp_path: Path) -> None:
    datasets = pytest.importorskip("torch_geometric.datasets")
    graphs, splits = parsed("wikics", data, tmp_path)
    (tmp_path / "pyg" / "raw").mkdir(parents=True)
    (tmp_path / "pyg" / "raw" / "data.json").write_text(json.dumps(data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = datasets.WikiCS(str(tmp_path / "pyg"), is_undirected=True)[0]
    np.testing.assert_array_equal(graphs.column("x").values, theirs.x)
    np.testing.assert_array_equal(graphs.column("y").values, theirs.y)
    np.testing.assert_array_equal(graphs.edge_index[::-1], theirs.edge_index)
    assert len(splits) == SPLITS
    for number, split in enumerate(splits):
        merged = theirs.val_mask[:, number] | theirs.stopping_mask[:, number]
        np.testing.assert_array_equal(split.train, np.flatnonzero(theirs.train_mask[:, number]))
        np.testing.assert_array_equal(split.val, np.flatnonzero(merged))
        np.testing.assert_array_equal(split.test, np.flatnonzero(theirs.test_mask))


def test_reference_keeps_reciprocal_edges_twice(data: dict[str, Any], tmp_path: Path) -> None:
    graphs, splits = parsed("wikics-as-published", data, tmp_path)
    links = [(a, b) for a, targets in enumerate(data["links"]) for b in targets]
    expected = sorted([(b, a) for a, b in links] + links, key=lambda edge: edge[::-1])
    assert list(map(tuple, graphs.edge_index.T.tolist())) == expected
    np.testing.assert_array_equal(splits[0].val, np.flatnonzero(data["val_masks"][0]))


def test_early_stopping_split_is_separate(data: dict[str, Any], tmp_path: Path) -> None:
    _, splits = parsed("wikics-stopping", data, tmp_path)
    np.testing.assert_array_equal(splits[4].val, np.flatnonzero(data["stopping_masks"][4]))


def broken(data: dict[str, Any], name: str) -> None:
    if name == "no links":
        del data["links"]
    elif name == "a link to nowhere":
        data["links"][3] = [NODES]
    elif name == "a negative link":
        data["links"][3] = [-1]
    elif name == "a class too many":
        data["labels"][0] = 10
    elif name == "half a class":
        data["labels"][0] = 0.5
    elif name == "a short mask":
        data["train_masks"] = [mask[:-1] for mask in data["train_masks"]]
    elif name == "uneven features":
        data["features"][0] = [1.0]
    elif name == "features missing":
        data["features"].pop()
    elif name == "text for a link":
        data["links"][3] = ["7"]


@pytest.mark.parametrize(
    "name",
    ["no links", "a link to nowhere", "a negative link", "a class too many", "half a class", "a short mask",
     "uneven features", "features missing", "text for a link"],
)  # fmt: skip
def test_corrupt_file_gives_one_line_error(name: str, data: dict[str, Any], tmp_path: Path) -> None:
    broken(data, name)
    with pytest.raises(CorruptFileError, match=r"^data.json (is not a Wiki-CS dataset|has a|has \d+)[^\n]*$"):
        parsed("wikics", data, tmp_path)


def test_truncated_json_raises(data: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text(json.dumps(data)[:-100])
    with pytest.raises(CorruptFileError, match=r"data.json is not valid JSON"):
        read_data(path)


@pytest.mark.slow
def test_stand_in_has_the_published_classes_and_links() -> None:
    classes = generator.labels(0)
    assert np.bincount(classes).tolist() == list(generator.SIZES)
    ends = generator.links(classes, 0)
    assert ends.shape == (2, 297_110)
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (classes[ends[0]], classes[ends[1]]), 1)
    np.testing.assert_array_equal(counts, generator.LINKS)
    assert (ends[0] == ends[1]).sum() == 520
    assert len(np.unique(ends, axis=1).T) == 297_110, "a link is there twice"
    assert len(np.unique(np.sort(ends, axis=0), axis=1).T) == 216_123


def test_synthetic_edge_densities_match_the_published_ones(mirror: Path) -> None:
    published = json.loads((mirror / "WikiCS" / "statistics.json").read_text())
    assert tuple(published["labels"]) == generator.CLASSES
    assert list(published["sizes"]["label_sizes"].values()) == list(generator.SIZES)
    sizes = np.array(generator.SIZES)
    densities = np.array(published["connectivity"]["connectivity_matrix"])
    np.testing.assert_allclose(np.array(generator.LINKS) / np.outer(sizes, sizes), densities, rtol=1e-12)


def test_synthetic_graph_has_both_edge_conventions() -> None:
    once, twice = load("wikics-standin"), load("wikics-standin-as-published")
    assert link_counts(once.graphs).tolist() == [216_123]
    assert once.graphs.num_edges == 431_726
    assert twice.graphs.num_edges == 594_220
    np.testing.assert_array_equal(once.graphs.column("x").values, twice.graphs.column("x").values)
    for one, other in zip(once.splits, twice.splits, strict=True):
        np.testing.assert_array_equal(one.train, other.train)
        assert set(other.val.tolist()) < set(one.val.tolist())


@pytest.mark.slow
def test_linear_model_accuracy_matches_wikics() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    dataset = load("wikics-standin")
    x, y, split = dataset.graphs.column("x").values, dataset.graphs.column("y").values, dataset.splits[0]
    fitted = linear_model.LogisticRegression(C=0.1, max_iter=100).fit(x[split.train], y[split.train])
    assert 0.68 < fitted.score(x[split.test], y[split.test]) < 0.78


def test_sampled_masks_have_the_published_class_fractions() -> None:
    classes = generator.labels(1)
    masks = random_masks(classes, 1)
    for number, size in enumerate(generator.SIZES):
        own = classes == number
        assert abs(masks["test"][own].sum() - 0.5 * size) <= 1
        for fraction, name in ((0.05, "train"), (0.225, "val"), (0.225, "stopping")):
            assert (np.abs(masks[name][:, own].sum(axis=1) - fraction * size) <= 2).all()
    batched = masks["train"].astype(int) + masks["val"] + masks["stopping"] + masks["test"]
    assert (batched == 1).all()
