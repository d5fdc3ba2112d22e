"""Contract of every registered dataset."""

from __future__ import annotations

import json
import multiprocessing
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.conftest import raw_data

from graphtrial.core.errors import MissingDependencyError
from graphtrial.core.spec import canonical_json
from graphtrial.datasets import DATASETS, Dataset, Source, info, load
from graphtrial.datasets.prepare import available_source
from graphtrial.datasets.sbm import CLUSTER, PATTERN
from graphtrial.graphs import GraphBatch

# The content of each dataset as first made, by source and the versions of the libraries that affect it.
KNOWN = json.loads((Path(__file__).parent / "dataset_hashes.json").read_text())
DESCRIBED: set[str] = set()
"""The graphs whose statistics were computed: several datasets differ in their splits alone."""


@DATASETS.register("small-pattern")
class SmallPattern(PATTERN):
    """A small PATTERN from the same generator."""

    name = "small-pattern"
    patterns = 10
    sizes = (40, 20, 20)
    published = None
    large = False


@DATASETS.register("small-cluster")
class SmallCluster(CLUSTER):
    """A small CLUSTER from the same generator."""

    name = "small-cluster"
    sizes = (40, 20, 20)
    published = None
    large = False


def at_hand() -> list[str]:
    """The names of all datasets whose raw files are on this machine."""
    mirror = raw_data()

    def here(source: Source) -> bool:
        return all(mirror is not None and (mirror / file.name).is_file() for file in source.files)

    return [name for name in DATASETS.names() if any(map(here, DATASETS.get(name).sources))]


@cache
def loaded(name: str) -> Dataset:
    """Every test looks at the same dataset; only the one that reads it again reads it again."""
    return load(name)


@pytest.fixture(params=at_hand())
def dataset(request: pytest.FixtureRequest, mirror: Path) -> Dataset:
    """Every registered dataset whose raw files are on this machine; large ones only with `pytest --large`."""
    if DATASETS.get(request.param).large and not request.config.getoption("--large"):
        pytest.skip(f"{request.param} is large; `pytest --large -k {request.param}` prepares and checks it")
    source = available_source(DATASETS.get(request.param)())
    if source is not None and source.hours:
        pytest.skip(f"{request.param} takes about {source.hours:.0f} hours of one core to make; its files are not here")
    try:
        return loaded(request.param)
    except MissingDependencyError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", DATASETS.names())
def test_metadata_is_complete(name: str) -> None:
    spec = DATASETS.get(name)()
    assert spec.name == name
    assert spec.task is not None
    for text in (spec.title, spec.domain, spec.licence, spec.paper, spec.task.name):
        assert text.strip()
    assert spec.title.endswith(".")
    assert spec.encoding_mode in ("add", "replace")
    assert spec.split_level in ("graph", "node", "pair")
    assert len({source.name for source in spec.sources}) == len(spec.sources) > 0
    for source in spec.sources:
        assert source.meaning
        for file in source.files:
            assert file.url is None or file.url.startswith("https://")
            assert file.licence
            assert file.sha256 is not None or any("SHA-256" in note for note in spec.notes)


@pytest.mark.slow
def test_splits_are_disjoint_and_complete_where_declared(dataset: Dataset) -> None:
    count = dataset.graphs.size[dataset.spec.split_level]
    for split in dataset.splits:
        batched = np.concatenate(list(split.parts.values()))
        assert len(np.unique(batched)) == len(batched)
        assert batched.min() >= 0
        assert batched.max() < count
        if dataset.spec.splits_complete:
            assert len(batched) == count


def test_splits_are_stratified_where_declared(dataset: Dataset) -> None:
    if not dataset.spec.splits_stratified:
        pytest.skip(f"{dataset.name} does not promise stratified splits")
    labels = dataset.graphs.column("y").values
    whole = np.bincount(labels) / len(labels)
    for split in dataset.splits:
        for ids in split.parts.values():
            counts = np.bincount(labels[ids], minlength=len(whole))
            # Within one example of the fraction of a class; the size of a part may itself be off by one.
            assert (np.abs(counts - whole * len(ids)) < 1 + whole).all()


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


def test_category_names_match_the_columns(dataset: Dataset) -> None:
    for names, column in ((dataset.spec.node_names, "x"), (dataset.spec.edge_names, "edge_attr")):
        if names:
            assert len(names) == dataset.graphs.column(column).types


def test_declared_task_matches_the_data(dataset: Dataset) -> None:
    declared, task = dataset.spec.task, dataset.task
    assert declared is not None
    assert (declared.name, declared.metric.title, declared.metric.higher_is_better) == (
        task.name,
        task.metric.title,
        task.metric.higher_is_better,
    )


def test_task_accepts_the_targets(dataset: Dataset) -> None:
    split = dataset.splits[0]
    if dataset.spec.split_level == "graph":
        batch = GraphBatch.from_set(dataset.graphs, split.train[:4])
        target = dataset.task.target(batch)
        rows = {
            "graph": batch.num_graphs,
            "node": batch.num_nodes,
            "edge": batch.num_edges,
            "node and graph": batch.num_nodes + batch.num_graphs,
        }[dataset.task.level]
    else:
        assert len(dataset.graphs) == 1
        assert dataset.task.level == dataset.spec.split_level
        target = torch.from_numpy(dataset.graphs.column("y").values[split.val])
        rows = len(split.val)
    assert len(target) == rows
    prediction = torch.zeros((rows, dataset.task.outputs))
    assert np.isfinite(float(dataset.task.loss(prediction, target)))
    assert np.isfinite(dataset.task.score(prediction, target))


def test_candidate_pairs_contain_positives_and_negatives(dataset: Dataset) -> None:
    if dataset.spec.split_level != "pair":
        pytest.skip(f"{dataset.name} has no pairs")
    linked = dataset.graphs.column("y").values
    for split in dataset.splits:
        assert (linked[split.train] == 1).all(), "pairs that are not linked are drawn while training"
        for part in (split.val, split.test):
            assert set(np.unique(linked[part]).tolist()) == {0, 1}


def test_statistics_agree_with_the_published(dataset: Dataset) -> None:
    assert [row for row in dataset.provenance["statistics"] if not row["agrees"]] == []


@pytest.mark.slow
def test_parsing_is_deterministic(dataset: Dataset) -> None:
    again = load(dataset.name)
    assert again.hash == dataset.hash == dataset.provenance["hash"]
    assert again.graphs.content_hash == dataset.graphs.content_hash


def test_content_hash_is_frozen(dataset: Dataset) -> None:
    built = {name: version for name, version in dataset.provenance["libraries"].items() if name in ("rdkit",)}
    registered = KNOWN.get(canonical_json([dataset.name, dataset.provenance["source"], built]))
    if registered is None:
        pytest.skip(
            f"no hash of {dataset.name} from {dataset.provenance['source']} is on record for {built or 'any library'}"
        )
    assert dataset.hash == registered


@pytest.mark.slow
def test_info_is_json_without_paths(
    dataset: Dataset, session_home: Path, mirror: Path, request: pytest.FixtureRequest
) -> None:
    if dataset.graphs.content_hash in DESCRIBED and not request.config.getoption("--long"):
        pytest.skip(f"{dataset.name} has the graphs of another dataset, whose statistics are computed")
    DESCRIBED.add(dataset.graphs.content_hash)
    text = json.dumps(info(dataset.name))
    assert str(session_home) not in text
    assert str(mirror) not in text


@pytest.mark.slow
def test_concurrent_processes_prepare_the_same_dataset(
    dataset: Dataset, own_home: Path, mirror: Path, request: pytest.FixtureRequest
) -> None:
    most = 500_000 if request.config.getoption("--long") else 50_000
    if dataset.graphs.num_nodes + dataset.graphs.num_edges > most or "rdkit" in dataset.provenance["libraries"]:
        pytest.skip(f"{dataset.name} takes long to prepare; the small ones go the same way")
    context = multiprocessing.get_context("fork")
    hashes = context.SimpleQueue()
    workers = [context.Process(target=_prepare, args=(dataset.name, hashes)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert {hashes.get() for _ in workers} == {dataset.hash}
    assert list((own_home / "datasets").rglob("*.tmp")) == []


def _prepare(name: str, hashes: Any) -> None:
    hashes.put(load(name).hash)


@pytest.mark.parametrize("name", DATASETS.names())
def test_synthetic_source_documents_its_difference(name: str) -> None:
    for source in DATASETS.get(name).sources:
        assert source.exact or source.deviation, f"{source.name} of {name} needs a `deviation`"
        assert len(source.deviation) < 100
        assert source.comparable or source.deviation
