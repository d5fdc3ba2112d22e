"""What every dataset promises, today's and tomorrow's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from graphtrial.datasets import DATASETS, Dataset, info, load
from graphtrial.datasets.sbm import Cluster, Pattern
from graphtrial.datasets.sources import find
from graphtrial.errors import MissingDependencyError
from graphtrial.graphs import GraphBatch
from graphtrial.spec import canonical_json

# The content of each dataset as first made, by source and the versions of the libraries that had a say in it.
KNOWN = json.loads((Path(__file__).parent / "dataset_hashes.json").read_text())


@DATASETS.register("small-pattern")
class SmallPattern(Pattern):
    """A small twin of PATTERN, made by the same code."""

    name = "small-pattern"
    patterns = 10
    copies = (4, 2, 2)
    published = None
    large = False


@DATASETS.register("small-cluster")
class SmallCluster(Cluster):
    """A small twin of CLUSTER, made by the same code."""

    name = "small-cluster"
    sizes = (40, 20, 20)
    published = None
    large = False


@pytest.fixture(params=DATASETS.names())
def dataset(request: pytest.FixtureRequest, mirror: Path) -> Dataset:
    """Every registered dataset whose raw files are on this machine; large ones only with `pytest --large`."""
    spec = DATASETS.get(request.param)
    if spec.large and not request.config.getoption("--large"):
        pytest.skip(f"{request.param} is large; `pytest --large -k {request.param}` prepares and checks it")
    if not any(all(find(file) for file in source.files) for source in spec.sources):
        pytest.skip(f"the raw files of {request.param} are not on this machine")
    try:
        return load(request.param)
    except MissingDependencyError as error:
        pytest.skip(str(error))


def test_metadata_is_complete(dataset: Dataset) -> None:
    spec = dataset.spec
    assert spec.name == dataset.name
    assert DATASETS.get(spec.name) is type(spec)
    for text in (spec.title, spec.domain, spec.licence, spec.paper):
        assert text.strip()
    assert spec.title.endswith(".")
    assert spec.encoding_mode in ("add", "replace")
    assert len({source.name for source in spec.sources}) == len(spec.sources)
    for source in spec.sources:
        assert source.meaning
        for file in source.files:
            assert file.url is None or file.url.startswith("https://")
            assert file.licence
            assert file.sha256 is not None or any("SHA-256" in note for note in spec.notes)


def test_splits_are_disjoint_and_complete_where_promised(dataset: Dataset) -> None:
    count = dataset.graphs.size[dataset.spec.split_level]
    for split in dataset.splits:
        together = np.concatenate(list(split.parts.values()))
        assert len(np.unique(together)) == len(together)
        assert together.min() >= 0
        assert together.max() < count
        if dataset.spec.splits_complete:
            assert len(together) == count


def test_splits_are_stratified_where_promised(dataset: Dataset) -> None:
    if not dataset.spec.splits_stratified:
        pytest.skip(f"{dataset.name} does not promise stratified splits")
    labels = dataset.graphs.column("y").values
    whole = np.bincount(labels) / len(labels)
    for split in dataset.splits:
        for ids in split.parts.values():
            counts = np.bincount(labels[ids], minlength=len(whole))
            assert (np.abs(counts - whole * len(ids)) < 1).all()


def test_edges_are_sorted_and_values_finite(dataset: Dataset) -> None:
    graphs = dataset.graphs
    graph = np.repeat(np.arange(len(graphs)), graphs.edge_counts)
    largest = int(graphs.node_counts.max()) + 1
    keys = (graph * largest + graphs.edge_index[1]) * largest + graphs.edge_index[0]
    assert (np.diff(keys) >= 0).all()
    for column in graphs.columns.values():
        assert np.isfinite(column.values).all()
        assert column.meaning
        if column.types is not None:
            assert column.values.min() >= 0
            assert column.values.max() < column.types


def test_names_of_types_fit_the_columns(dataset: Dataset) -> None:
    for names, column in ((dataset.spec.node_names, "x"), (dataset.spec.edge_names, "edge_attr")):
        if names:
            assert len(names) == dataset.graphs.column(column).types


def test_the_task_accepts_the_targets(dataset: Dataset) -> None:
    batch = GraphBatch.from_set(dataset.graphs, dataset.splits[0].train[:4])
    target = dataset.task.target(batch)
    rows = {
        "graph": batch.num_graphs,
        "node": batch.num_nodes,
        "edge": batch.num_edges,
        "node and graph": batch.num_nodes + batch.num_graphs,
    }[dataset.task.level]
    prediction = target.new_zeros((rows, dataset.task.outputs)).float()
    assert np.isfinite(float(dataset.task.loss(prediction, target)))
    assert np.isfinite(dataset.task.score(prediction, target))


def test_statistics_agree_with_the_published(dataset: Dataset) -> None:
    assert [row for row in dataset.provenance["statistics"] if not row["agrees"]] == []


def test_reading_again_gives_the_same(dataset: Dataset) -> None:
    again = load(dataset.name)
    assert again.hash == dataset.hash == dataset.provenance["hash"]
    assert again.graphs.content_hash == dataset.graphs.content_hash


def test_content_is_what_it_was(dataset: Dataset) -> None:
    made = {name: version for name, version in dataset.provenance["libraries"].items() if name in ("rdkit",)}
    known = KNOWN.get(canonical_json([dataset.name, dataset.provenance["source"], made]))
    if known is None:
        pytest.skip(
            f"no hash of {dataset.name} from {dataset.provenance['source']} is on record for {made or 'any library'}"
        )
    assert dataset.hash == known


def test_info_is_json_without_paths(dataset: Dataset, session_home: Path, mirror: Path) -> None:
    text = json.dumps(info(dataset.name))
    assert str(session_home) not in text
    assert str(mirror) not in text
