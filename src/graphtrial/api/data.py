"""Load, prepare and register datasets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

from graphtrial import datasets
from graphtrial.core.plugins.imports import registered_name
from graphtrial.core.plugins.permissions import allow
from graphtrial.datasets import DATASETS, Dataset, DatasetSpec
from graphtrial.datasets.custom import import_graphs
from graphtrial.graphs import GraphSet
from graphtrial.graphs import from_pyg as convert_pyg

if TYPE_CHECKING:
    from torch_geometric.data import Data


def load(dataset: str | type[DatasetSpec]) -> Dataset:
    """Load a dataset by name or class, such as `load("zinc")` or `load(gt.datasets.ZINC)`; prepare it if necessary."""
    name = registered_name(DATASETS, dataset)
    allow(name)
    return datasets.load(name)


def prepare(dataset: str | type[DatasetSpec], force: bool = False) -> Dataset:
    """Download, parse, check and cache a dataset, and return it; with `force` even if it is cached already."""
    name = registered_name(DATASETS, dataset)
    allow(name)
    return datasets.prepare(name, force)


def info(dataset: str | type[DatasetSpec]) -> dict[str, Any]:
    """Return the metadata and statistics of a dataset as JSON-like values; prepare it if necessary."""
    name = registered_name(DATASETS, dataset)
    allow(name)
    return datasets.info(name)


@overload
def from_pyg(items: Iterable[Data] | Data) -> GraphSet: ...
@overload
def from_pyg(
    items: Iterable[Data] | Data,
    name: str,
    *,
    task: str | None = None,
    split: dict[str, Any] | None = None,
    protocol: str | None = None,
    licence: str = "not stated",
    replace: bool = False,
) -> Dataset: ...
def from_pyg(
    items: Iterable[Data] | Data,
    name: str | None = None,
    *,
    task: str | None = None,
    split: dict[str, Any] | None = None,
    protocol: str | None = None,
    licence: str = "not stated",
    replace: bool = False,
) -> Dataset | GraphSet:
    """Convert PyG `Data` objects, a PyG dataset or a single `Data`; with a `name`, register them as that dataset.

    A registered dataset is kept in the cache and used by its name, as `graphtrial data import` would: masks and
    `get_idx_split()` are its split, else one is drawn by `split`, such as `{"folds": 10, "seed": 0}`; the task follows
    from the targets, or is given as in `graph-binary-classification:metric=average-precision`.
    """
    graphs = convert_pyg(items)
    if name is None:
        return graphs
    options = {"task": task, "split": split, "protocol": protocol, "licence": licence, "replace": replace}
    return import_graphs(name, graphs, title=f"{name}: imported from PyG data", **options)
