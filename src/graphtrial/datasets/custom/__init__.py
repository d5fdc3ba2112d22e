"""Custom datasets: generated with other parameters or imported from files, and recorded as a JSON recipe."""

from graphtrial.datasets.custom.dataset import CustomDataset
from graphtrial.datasets.custom.library.resolve import import_library
from graphtrial.datasets.custom.manage import delete, generate, import_files, import_graphs
from graphtrial.datasets.custom.recipe import Recipe, names

__all__ = ["CustomDataset", "Recipe", "delete", "generate", "import_files", "import_graphs", "import_library", "names"]
