"""Datasets of the user's own: generated with other parameters, or imported from files; kept in the cache by recipe."""

from graphtrial.datasets.custom.dataset import OwnDataset
from graphtrial.datasets.custom.keep import delete, generate, import_files, keep
from graphtrial.datasets.custom.recipe import Recipe, names

__all__ = ["OwnDataset", "Recipe", "delete", "generate", "import_files", "keep", "names"]
