"""From a name to a dataset: choose a source, fetch, parse, check, keep; prepared once, whoever asks first."""

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
from graphtrial.core.origins import origin_digests
from graphtrial.core.spec import digest
from graphtrial.datasets.base import DATASETS, PARTS, Dataset, DatasetSpec, Source, Split, check_splits, dataset_hash
from graphtrial.datasets.single_graph import graph_facts
from graphtrial.datasets.statistics import compare, summary, types_of
from graphtrial.graphs import GraphSet, storage
from graphtrial.io.sources import fetch, find, known_hash
from graphtrial.tasks import Task

logger = logging.getLogger(__name__)


def load(name: str) -> Dataset:
    """Return a dataset by name; it is prepared first where it is not yet, or no longer intact."""
    return prepare(name)


def prepare(name: str, force: bool = False) -> Dataset:
    """Fetch, parse, check and keep a dataset, and return it; `force` does so even where it was kept before."""
    kind = DATASETS.get(name)
    if kind.name != name:  # trials are named after what it calls itself
        try:
            DATASETS.get(kind.name)
        except UnknownNameError:
            raise GraphTrialError(
                f"dataset '{name}' calls itself '{kind.name}', by which it cannot be found; its `name` must be '{name}'"
            ) from None
    return prepare_spec(kind(), force)


def prepare_spec(spec: DatasetSpec, force: bool = False) -> Dataset:
    """Prepare a dataset that need not have a name yet."""
    source = _choose(spec)
    folder = _folder(spec, source)
    if folder is None:  # a file without a published hash gets one when it is first seen
        for file in source.files:
            fetch(file)
        folder = _folder(spec, source)
    if folder is None:
        raise GraphTrialError(f"{spec.name} cannot be prepared: its files have no hash")
    target = folder
    if force:
        shutil.rmtree(target, ignore_errors=True)
    try:
        return cached(target, lambda: _make(spec, source, target), lambda: _read(spec, target))
    except OSError as error:
        raise GraphTrialError(f"{spec.name} cannot be kept in {target.parent}: {error.strerror or error}") from error


def task_of(name: str) -> Task:
    """Return the task of a dataset as loaded; nothing is read where the data have no say in it."""
    kind = DATASETS.get(name)
    declared = kind.task if kind.task_of is DatasetSpec.task_of else None
    return declared or load(name).task


def info(name: str) -> dict[str, Any]:
    """Return everything there is to say about a dataset, as JSON-like facts; it is prepared where it is not yet."""
    dataset = load(name)
    spec, graphs, made = dataset.spec, dataset.graphs, dataset.provenance
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
        "encoding_mode": spec.encoding_mode,
        "source": made["source"],
        "source_means": made["meaning"],
        "files": made["files"],
        "libraries": made["libraries"],
        "graphs": len(graphs),
        "nodes": summary(graphs.node_counts),
        "edges": summary(graphs.edge_counts),
        "node_types": types_of(graphs, "x"),
        "edge_types": types_of(graphs, "edge_attr"),
        "classes": types_of(graphs, "y"),
        "columns": {name: [c.level, c.meaning, str(c.values.dtype), c.width] for name, c in graphs.columns.items()},
        "split_level": spec.split_level,
        "splits": [dict(zip(PARTS, split.sizes, strict=True)) for split in dataset.splits],
        "graph": graph_facts(dataset),
        "statistics": made["statistics"],
        "notes": list(spec.notes),
        "hash": dataset.hash,
    }


def source_at_hand(spec: DatasetSpec) -> Source | None:
    """Return the first source that is kept already or whose files are on this machine, or nothing."""
    for source in spec.sources:
        folder = _folder(spec, source)
        if (folder is not None and folder.exists()) or all(find(file) for file in source.files):
            return source
    return None


def is_kept(name: str) -> bool:
    """Tell whether a dataset is prepared already, so that loading it reads and nothing more."""
    return any(folder.exists() for folder in folders_of(DATASETS.get(name)()))


def folders_of(spec: DatasetSpec) -> list[Path]:
    """Return where the prepared data of a dataset is kept, one folder for each source whose files are known."""
    return [folder for source in spec.sources if (folder := _folder(spec, source)) is not None]


def _choose(spec: DatasetSpec) -> Source:
    """Return the first source that is kept already or whose files are here, else the first that can be downloaded."""
    here = source_at_hand(spec)
    if here is not None:
        return here
    for source in spec.sources:
        if all(file.url or find(file) for file in source.files):
            return source
    absent = [file for file in spec.sources[0].files if not find(file)]
    raise GraphTrialError(f"{spec.name} needs {', '.join(file.name for file in absent)}: {absent[0].by_hand}")


def _folder(spec: DatasetSpec, source: Source) -> Path | None:
    hashes = {file.name: known_hash(file) for file in source.files}
    if None in hashes.values():
        return None
    facts = {"dataset": spec.name, "parser": spec.parser_version, "source": source.name, "inputs": hashes}
    origin = origin_digests(type(spec))  # the version of a plug-in's dataset is the content of its files
    return cache_folder("datasets", spec.name, digest({**facts, "origin": origin} if origin else facts))


def _make(spec: DatasetSpec, source: Source, folder: Path) -> None:
    raw = {file.name: fetch(file) for file in source.files}
    logger.info("preparing %s from %s", spec.name, source.name)
    graphs = spec.parse(source, raw)
    splits = spec.split(graphs, source, raw)
    check_splits(splits, graphs.size[spec.split_level], spec.splits_complete, spec.split_level)
    statistics = compare(spec.published, graphs, splits, source.exact) if spec.published else []
    for row in statistics:
        if not row["agrees"]:
            wrong = f"{spec.name} has {row['what']} {row['ours']}, published is {row['published']} ({row['rule']})"
            if source.exact and spec.published and spec.published.binding:
                raise InvalidGraphError(f"{wrong}; it was not kept, because it cannot be the published data")
            logger.warning("%s", wrong)
    provenance = {
        "dataset": spec.name,
        "source": source.name,
        "meaning": source.meaning,
        "parser_version": spec.parser_version,
        "files": [
            {
                "name": f.name,
                "sha256": known_hash(f),
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
        arrays, about = storage.load(folder / "splits")
        splits = tuple(Split(*(arrays[f"{number}.{part}"] for part in PARTS)) for number in range(about["splits"]))
        dataset = Dataset(spec.name, graphs, splits, spec.task_of(graphs), spec, about["provenance"])
        intact = dataset.hash == dataset.provenance["hash"]
    except (OSError, ValueError, KeyError, TypeError, SyntaxError, MemoryError) as error:
        raise CorruptFileError(f"the prepared {spec.name} in {folder} cannot be read ({error})") from error
    if not intact:
        raise CorruptFileError(f"the prepared {spec.name} in {folder} was changed after it was written")
    return dataset


def _version(library: str) -> str:
    return str(getattr(importlib.import_module(library), "__version__", "unknown"))
