"""Datasets by name: `load("zinc")` downloads, verifies, parses and caches one."""

from typing import Any

from graphtrial.core.plugins.imports import builtin_classes, class_attribute
from graphtrial.datasets.base import DATASETS, DatasetSpec, Source, Split
from graphtrial.datasets.dataset import Dataset
from graphtrial.datasets.prepare import info, load, prepare
from graphtrial.datasets.statistics import Statistics
from graphtrial.datasets.subset import Subset
from graphtrial.io.sources import File

__all__ = [
    "DATASETS",
    "Dataset",
    "DatasetSpec",
    "File",
    "Source",
    "Split",
    "Statistics",
    "Subset",
    "info",
    "load",
    "prepare",
]


def __getattr__(name: str) -> Any:
    return class_attribute(__name__, DATASETS, name)


def __dir__() -> list[str]:
    return [*__all__, *builtin_classes(DATASETS)]
