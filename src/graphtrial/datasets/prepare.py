"""Prepare datasets: choose a source, download, parse, validate and cache; processes share the cache by a lock."""

from __future__ import annotations

import importlib
import logging
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

from graphtrial.core.cache import cache_folder, cached
from graphtrial.core.errors import CorruptFileError, GraphTrialError, InvalidGraphError, UnknownNameError
from graphtrial.core.files import atomic_folder
from graphtrial.core.plugins.origins import origin_digests
from graphtrial.core.spec import digest
from graphtrial.datasets.base import DATASETS, PARTS, DatasetSpec, Source, Split, check_splits, dataset_hash
from graphtrial.datasets.dataset import Dataset
from graphtrial.datasets.graph_statistics import graph_statistics
from graphtrial.datasets.statistics import compare, label_counts, summary, types_of
from graphtrial.graphs import GraphSet, storage
from graphtrial.io.sources import fetch, find, published_hash
from graphtrial.tasks import Task

logger = logging.getLogger(__name__)


def load(name: str) -> Dataset:
    """Load a dataset by name; prepare it first if it is not cached or its cache is corrupt."""
    return prepare(name)


def prepare(name: str, force: bool = False) -> Dataset:
    """Download, parse, validate and cache a dataset, and return it; `force` ignores the cache."""
    kind = DATASETS.get(name)
    if kind.name != name:  # trials record `kind.name`
        try:
            DATASETS.get(kind.name)
        except UnknownNameError:
            raise GraphTrialError(
                f"dataset '{name}' has `name = '{kind.name}'`, which is not registered; set its `name` to '{name}'"
            ) from None
    return prepare_spec(kind(), force)


def prepare_spec(spec: DatasetSpec, force: bool = False) -> Dataset:
    """Prepare a dataset that need not be registered."""
    source = _choose_source(spec)
    folder = _folder(spec, source)
    if folder is None:  # trust on first use: a file without a published hash is hashed after its download
        for file in source.files:
            fetch(file)
        folder = _folder(spec, source)
    if folder is None:
        raise GraphTrialError(f"{spec.name} cannot be prepared: its files have no hash")
    target = folder
    if force:
        shutil.rmtree(target, ignore_errors=True)
    try:
        return cached(target, lambda: _prepare(spec, source, target), lambda: _read(spec, target))
    except OSError as error:
        raise GraphTrialError(f"{spec.name} cannot be saved in {target.parent}: {error.strerror or error}") from error


def task_of(name: str) -> Task:
    """Return the task of a dataset; the data are loaded only if the task depends on them."""
    kind = DATASETS.get(name)
    declared = kind.task if kind.task_of is DatasetSpec.task_of else None
    return declared or load(name).task


def info(name: str) -> dict[str, Any]:
    """Return metadata, statistics and provenance of a dataset as JSON-like facts; prepares it if necessary."""
    dataset = load(name)
    spec, graphs, provenance = dataset.spec, dataset.graphs, dataset.provenance
    return {
        "name": dataset.name,
        "title": spec.title,
        "domain": spec.domain,
        "paper": spec.paper,
        "licence": spec.licence,
        "task": dataset.task.name,
        "metric": dataset.task.metric.title,
        "higher_is_better": dataset.task.metric.higher_is_better,
        "outputs": dataset.task.outputs,
        "protocol": spec.protocol,
        "encoding_mode": spec.encoding_mode,
        "source": provenance["source"],
        "source_means": provenance["meaning"],
        "files": provenance["files"],
        "libraries": provenance["libraries"],
        "graphs": len(graphs),
        "nodes": summary(graphs.node_counts),
        "edges": summary(graphs.edge_counts),
        "node_types": types_of(graphs, "x"),
        "edge_types": types_of(graphs, "edge_attr"),
        "classes": types_of(graphs, "y"),
        "labels": label_counts(graphs),
        "columns": {name: [c.level, c.meaning, str(c.values.dtype), c.width] for name, c in graphs.columns.items()},
        "split_level": spec.split_level,
        "splits": [dict(zip(PARTS, split.sizes, strict=True)) for split in dataset.splits],
        "graph": graph_statistics(dataset),
        "statistics": provenance["statistics"],
        "notes": list(spec.notes),
        "hash": dataset.hash,
    }


def available_source(spec: DatasetSpec) -> Source | None:
    """Return the first source that is cached or whose files are on this machine, or None."""
    for source in spec.sources:
        folder = _folder(spec, source)
        if (folder is not None and folder.exists()) or all(find(file) for file in source.files):
            return source
    return None


def is_prepared(name: str) -> bool:
    """Return whether a dataset is cached, so that `load` only reads it."""
    return any(folder.exists() for folder in prepared_folders(DATASETS.get(name)()))


def prepared_folders(spec: DatasetSpec) -> list[Path]:
    """Return the cache folders of a dataset, one for each source whose file hashes are known."""
    return [folder for source in spec.sources if (folder := _folder(spec, source)) is not None]


def _choose_source(spec: DatasetSpec) -> Source:
    """Return the first available source, else the first that can be downloaded."""
    available = available_source(spec)
    if available is not None:
        return available
    for source in spec.sources:
        if all(file.url or find(file) for file in source.files):
            return source
    absent = [file for file in spec.sources[0].files if not find(file)]
    raise GraphTrialError(f"{spec.name} needs {', '.join(file.name for file in absent)}: {absent[0].by_hand}")


def _folder(spec: DatasetSpec, source: Source) -> Path | None:
    hashes = {file.name: published_hash(file) for file in source.files}
    if None in hashes.values():
        return None
    facts = {"dataset": spec.name, "parser": spec.parser_version, "source": source.name, "inputs": hashes}
    origin = origin_digests(type(spec))  # datasets of plug-ins are versioned by the content of their files
    return cache_folder("datasets", spec.name, digest({**facts, "origin": origin} if origin else facts))


def _prepare(spec: DatasetSpec, source: Source, folder: Path) -> None:
    raw = {file.name: fetch(file) for file in source.files}
    logger.info("preparing %s from %s", spec.name, source.name)
    graphs = spec.parse(source, raw)
    splits = spec.split(graphs, source, raw)
    check_splits(splits, graphs.size[spec.split_level], spec.splits_complete, spec.split_level)
    statistics = compare(spec.published, graphs, splits, source.exact) if spec.published else []
    for row in statistics:
        if not row["agrees"]:
            message = f"{spec.name} has {row['what']} {row['ours']}, published is {row['published']} ({row['rule']})"
            if source.exact and spec.published and spec.published.binding:
                raise InvalidGraphError(f"{message}; it was not saved, because it cannot be the published data")
            logger.warning("%s", message)
    provenance = {
        "dataset": spec.name,
        "source": source.name,
        "meaning": source.meaning,
        "parser_version": spec.parser_version,
        "files": [
            {
                "name": f.name,
                "sha256": published_hash(f),
                "size": raw[f.name].stat().st_size,
                "url": f.url,
                "licence": f.licence,
            }
            for f in source.files
        ],
        "libraries": {"graphtrial": version("graphtrial"), **{name: _version(name) for name in source.libraries}},
        "statistics": statistics,
        "notes": list(spec.notes),
        "hash": dataset_hash(graphs, splits),
    }
    arrays = {f"{number}.{part}": ids for number, split in enumerate(splits) for part, ids in split.parts.items()}
    with atomic_folder(folder) as temporary:
        graphs.save(temporary / "graphs")
        storage.save(temporary / "splits", arrays, {"splits": len(splits), "provenance": provenance})


def _read(spec: DatasetSpec, folder: Path) -> Dataset:
    try:
        graphs = GraphSet.open(folder / "graphs")
        arrays, metadata = storage.load(folder / "splits")
        splits = tuple(Split(*(arrays[f"{number}.{part}"] for part in PARTS)) for number in range(metadata["splits"]))
        dataset = Dataset(spec.name, graphs, splits, spec.task_of(graphs), spec, metadata["provenance"])
        intact = dataset.hash == dataset.provenance["hash"]
    except (OSError, ValueError, KeyError, TypeError, SyntaxError, MemoryError) as error:
        raise CorruptFileError(f"the prepared {spec.name} in {folder} cannot be read ({error})") from error
    if not intact:
        raise CorruptFileError(f"the prepared {spec.name} in {folder} was changed after it was written")
    return dataset


def _version(library: str) -> str:
    return str(getattr(importlib.import_module(library), "__version__", "unknown"))
