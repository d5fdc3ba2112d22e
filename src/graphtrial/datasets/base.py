"""Base class of datasets, their sources and splits."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import GraphTrialError, InvalidGraphError
from graphtrial.core.registry import Registry, is_subclass
from graphtrial.core.spec import digest
from graphtrial.datasets.statistics import Statistics
from graphtrial.graphs import GraphSet
from graphtrial.graphs.storage import describe
from graphtrial.io.sources import File
from graphtrial.tasks import Task

DATASETS: Registry[type[DatasetSpec]] = Registry(
    "dataset",
    "graphtrial.datasets",
    fits=lambda thing: is_subclass(thing, DatasetSpec) and _has_valid_metadata(thing),
    wanted="a subclass of graphtrial.DatasetSpec with a string `name`, a tuple of `sources` and, if any, a `task`",
    declared=("name", "domain", "licence", "paper", "sources"),
)
PARTS = ("train", "val", "test")


SplitLevel = Literal["graph", "node", "edge", "pair"]
"""Level of the examples that a split divides: graphs, or nodes, edges or node pairs of a single graph."""


@dataclass(frozen=True, eq=False)
class Split:
    """Train, validation and test indices of graphs, nodes, edges or node pairs; read-only int64 arrays."""

    train: npt.NDArray[np.int64]
    val: npt.NDArray[np.int64]
    test: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        for part in PARTS:
            ids = np.array(getattr(self, part), dtype=np.int64)
            ids.flags.writeable = False
            object.__setattr__(self, part, ids)

    @property
    def parts(self) -> dict[str, npt.NDArray[np.int64]]:
        """The index arrays by split name."""
        return {"train": self.train, "val": self.val, "test": self.test}

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of examples in train, val and test."""
        return len(self.train), len(self.val), len(self.test)


@dataclass(frozen=True)
class Source:
    """Source of a dataset: the raw files it is parsed from (none if generated), described by `meaning`.

    `exact`: the result is the published data, so its statistics must equal the published ones; else they must agree
    within sampling error. `libraries`: packages whose versions affect the result and are recorded. `hours`: estimated
    single-core time if preparation is long; such a source is only prepared on explicit request.

    `deviation`: short description of how the data differ from the published data, shown as a badge beside results.
    `comparable`: false if scores cannot be compared with published ones even within sampling error. `hashes`: dataset
    hashes produced from this source, for results that do not record their source.
    """

    name: str
    meaning: str
    files: tuple[File, ...] = ()
    exact: bool = True
    libraries: tuple[str, ...] = ("numpy",)
    hours: float = 0.0
    deviation: str = ""
    comparable: bool = True
    hashes: tuple[str, ...] = ()

    @property
    def difference(self) -> str:
        """Difference from the published data; empty if there is none."""
        return self.deviation or ("" if self.exact else self.meaning)


class DatasetSpec(ABC):
    """Base class of datasets: metadata and two pure functions, `parse` and `split`.

    The framework downloads, verifies, caches and locks. The first line of the docstring is the title. `sources` are
    alternatives in order of preference. Increment `parser_version` whenever `parse` or `split` changes its result.
    `encoding_mode`: positional encodings are added to the embedded node features or replace them. `node_names` and
    `edge_names`: names of the categories.
    """

    name: ClassVar[str]
    domain: ClassVar[str]
    task: ClassVar[Task | None] = None
    """Task as listed before the data are loaded; trials use the one of `task_of`."""
    licence: ClassVar[str]
    paper: ClassVar[str]
    published: ClassVar[Statistics | None] = None
    sources: ClassVar[tuple[Source, ...]]
    parser_version: ClassVar[int] = 1
    notes: ClassVar[tuple[str, ...]] = ()
    encoding_mode: ClassVar[Literal["add", "replace"]] = "add"
    node_names: ClassVar[tuple[str, ...]] = ()
    edge_names: ClassVar[tuple[str, ...]] = ()

    published_as: ClassVar[str | None] = None
    """Name of the dataset in published tables and protocols, if it differs from `name`."""
    large: ClassVar[bool] = False
    """Preparation takes minutes or gigabytes; the contract suite includes it with `--large` only."""
    protocol: ClassVar[str | None] = None
    """Default training protocol; if unset, the one of the benchmark paper named after the dataset."""
    split_level: ClassVar[SplitLevel] = "graph"
    """Level of the indices of a split."""
    splits_complete: ClassVar[bool] = True
    """Every split covers all examples."""
    splits_stratified: ClassVar[bool] = False
    """Splits are stratified by class."""

    @abstractmethod
    def parse(self, source: Source, raw: Mapping[str, Path]) -> GraphSet:
        """Parse the files of `source` into a graph set; `raw` maps file names to paths."""

    @abstractmethod
    def split(self, graphs: GraphSet, source: Source, raw: Mapping[str, Path]) -> Sequence[Split]:
        """Return the splits, one per fold or repetition."""

    def task_of(self, graphs: GraphSet) -> Task:
        """Return the task on these graphs; override it if the task depends on the data."""
        if self.task is None:
            raise GraphTrialError(f"dataset '{self.name}' declares no task and does not override `task_of`")
        return self.task

    @property
    def title(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(type(self)) or self.name).splitlines()[0]


def _has_valid_metadata(cls: type[DatasetSpec]) -> bool:
    """Return whether the class attributes that are set have the right types."""
    sources, name, task = (getattr(cls, key, None) for key in ("sources", "name", "task"))
    if sources is not None and not (isinstance(sources, tuple) and all(isinstance(s, Source) for s in sources)):
        return False
    return isinstance(name, str | None) and isinstance(task, Task | None)


def published_name(dataset: str) -> str:
    """Return the name of a dataset in published tables; unregistered names are returned unchanged."""
    alias = DATASETS.get(dataset).published_as if dataset in DATASETS else None
    return alias or dataset


def lookup_dataset(name: str) -> type[DatasetSpec] | None:
    """Look up the class of a dataset named in a store, None if unavailable; never imports `module:attribute`."""
    if ":" in name:
        return None
    try:
        return DATASETS.get(name)
    except (GraphTrialError, ImportError):  # registered by a plug-in that is not loaded
        return None


def dataset_hash(graphs: GraphSet, splits: Sequence[Split]) -> str:
    """Return the SHA-256 of graphs and splits."""
    parts = [[describe(ids) for ids in split.parts.values()] for split in splits]
    return digest({"graphs": graphs.content_hash, "splits": parts})


def check_splits(splits: Sequence[Split], count: int, complete: bool, subject: str = "graph") -> None:
    """Raise InvalidGraphError for splits with overlaps, duplicates, indices out of range or, if `complete`, gaps."""
    if not splits:
        raise InvalidGraphError("a dataset needs at least one split")
    for number, split in enumerate(splits):
        for part, ids in split.parts.items():
            if not len(ids):
                raise InvalidGraphError(f"the {part} part of split {number} is empty")
            if ids.min() < 0 or ids.max() >= count:
                raise InvalidGraphError(f"the {part} part of split {number} names a {subject} outside 0 to {count - 1}")
        indices = np.concatenate(list(split.parts.values()))
        distinct = len(np.unique(indices))
        if distinct != len(indices):
            raise InvalidGraphError(f"split {number} has a {subject} in two places")
        if complete and distinct != count:
            raise InvalidGraphError(f"split {number} leaves out {count - distinct} of {count} {subject}s")
