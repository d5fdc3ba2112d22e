"""What a dataset declares, and what it is once loaded."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

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
    fits=lambda thing: is_subclass(thing, DatasetSpec) and _says_what_it_is(thing),
    wanted="a subclass of graphtrial.DatasetSpec with a text `name`, a tuple of `sources` and, if any, a `task`",
    declared=("name", "domain", "licence", "paper", "sources"),
)
PARTS = ("train", "val", "test")


SplitLevel = Literal["graph", "node", "edge", "pair"]
"""What a split divides: the graphs of a set, or the nodes, edges or pairs of nodes of its single graph."""


@dataclass(frozen=True, eq=False)
class Split:
    """Which graphs (or nodes, or pairs) are trained on, which choose the model, which are tested: arrays of ids."""

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
        """The three arrays by name."""
        return {"train": self.train, "val": self.val, "test": self.test}

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The number of ids in train, val and test."""
        return len(self.train), len(self.val), len(self.test)


@dataclass(frozen=True)
class Source:
    """One way to come by a dataset: the files it needs (perhaps none) and what it means to have used it.

    `exact` says that the result is the published data, so that its statistics must be the published ones; a stand-in
    need only agree within sampling error. The versions of `libraries` are recorded: they had a say in the numbers.
    `hours` is about what it takes to make it on one core where that is long: then only who asks for it gets it made.

    `deviation` says in a few words how the data differ from the published ones, and results on them carry it as a
    badge; `comparable` is false where scores do not compare with published ones even within sampling error. `hashes`
    are hashes of data known to be made from this source, for results that do not record their source.
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
        """How the data differ from the published ones; empty where they are the same."""
        return self.deviation or ("" if self.exact else self.meaning)


class DatasetSpec(ABC):
    """A dataset as metadata and two pure functions; fetching, checking, caching and locking are the framework's.

    The first line of the docstring is the title. `sources` are alternatives in order of preference. Raise
    `parser_version` whenever `parse` or `split` gives another result. `encoding_mode` says whether positional encodings
    are added to the embedded node features or replace them. `node_names` and `edge_names` name the categories.
    """

    name: ClassVar[str]
    domain: ClassVar[str]
    task: ClassVar[Task | None] = None
    """What is known of the task before the data are read, for lists; a trial takes that of `task_of`."""
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
    """The name under which papers list results, sizes and training rules, where it is not `name`."""
    large: ClassVar[bool] = False
    """Preparing it takes a minute or gigabytes: the contract suite does so with `--large` only."""
    protocol: ClassVar[str | None] = None
    """The training protocol; by default that of the benchmark paper with the dataset's own name."""
    split_level: ClassVar[SplitLevel] = "graph"
    """What the ids of a split number: graphs, or the nodes, edges or pairs of the single graph."""
    splits_complete: ClassVar[bool] = True
    """Everything that is numbered is in one part of every split."""
    splits_stratified: ClassVar[bool] = False
    """Every part of every split has the classes in the proportions of the whole."""

    @abstractmethod
    def parse(self, source: Source, raw: Mapping[str, Path]) -> GraphSet:
        """Read the files of `source`, given by their names, into a graph set."""

    @abstractmethod
    def split(self, graphs: GraphSet, source: Source, raw: Mapping[str, Path]) -> Sequence[Split]:
        """Return the splits, one per fold."""

    def task_of(self, graphs: GraphSet) -> Task:
        """Return the task on these graphs; a family whose task is known only from the data overrides this."""
        if self.task is None:
            raise GraphTrialError(f"dataset '{self.name}' declares no task and has no `task_of` that finds it")
        return self.task

    @property
    def title(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(type(self)) or self.name).splitlines()[0]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A named graph set with its task, its splits and where it came from; it never changes.

    `provenance` holds JSON-like facts: source variant, input files with their SHA-256, parser and library versions, and
    our statistics beside the published ones.
    """

    name: str
    graphs: GraphSet
    splits: tuple[Split, ...]
    task: Task
    spec: DatasetSpec
    provenance: Mapping[str, Any]

    @cached_property
    def hash(self) -> str:
        """The SHA-256 over graphs and splits: part of the identity of every trial on this data."""
        return dataset_hash(self.graphs, self.splits)

    def __repr__(self) -> str:
        return f"Dataset({self.name}, {len(self.graphs)} graphs, {len(self.splits)} splits, {self.hash[:12]})"


def _says_what_it_is(kind: type[DatasetSpec]) -> bool:
    """Tell whether what a class says about itself is of the right kind, where it says it."""
    sources, name, task = (getattr(kind, key, None) for key in ("sources", "name", "task"))
    if sources is not None and not (isinstance(sources, tuple) and all(isinstance(one, Source) for one in sources)):
        return False
    return isinstance(name, str | None) and isinstance(task, Task | None)


def published_name(dataset: str) -> str:
    """Return the name under which papers list what they know of a dataset; an unknown name is its own."""
    known = DATASETS.get(dataset).published_as if dataset in DATASETS else None
    return known or dataset


def known_dataset(name: str) -> type[DatasetSpec] | None:
    """Return the dataset of a name that stands in a store, or none; `module:attribute` is never imported for it."""
    if ":" in name:
        return None
    try:
        return DATASETS.get(name)
    except (GraphTrialError, ImportError):  # of a file of the user's own that is not loaded now
        return None


def dataset_hash(graphs: GraphSet, splits: Sequence[Split]) -> str:
    """Return the SHA-256 over graphs and splits."""
    parts = [[describe(ids) for ids in split.parts.values()] for split in splits]
    return digest({"graphs": graphs.content_hash, "splits": parts})


def check_splits(splits: Sequence[Split], count: int, complete: bool, what: str = "graph") -> None:
    """Raise an error for splits that overlap, repeat or leave the set, or leave something out where nothing may be."""
    if not splits:
        raise InvalidGraphError("a dataset needs at least one split")
    for number, split in enumerate(splits):
        for part, ids in split.parts.items():
            if not len(ids):
                raise InvalidGraphError(f"the {part} part of split {number} is empty")
            if ids.min() < 0 or ids.max() >= count:
                raise InvalidGraphError(f"the {part} part of split {number} names a {what} outside 0 to {count - 1}")
        together = np.concatenate(list(split.parts.values()))
        found = len(np.unique(together))
        if found != len(together):
            raise InvalidGraphError(f"split {number} has a {what} in two places")
        if complete and found != count:
            raise InvalidGraphError(f"split {number} leaves out {count - found} of {count} {what}s")
