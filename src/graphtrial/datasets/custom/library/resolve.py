"""Import a dataset of another library, and resolve its name among the datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.plugins.permissions import require_loader
from graphtrial.core.temporary import temporary_folder
from graphtrial.datasets.base import DATASETS
from graphtrial.datasets.custom import recipe as recipes
from graphtrial.datasets.custom.dataset import CustomDataset, class_of
from graphtrial.datasets.custom.library.names import LIBRARIES, is_library_name, parse
from graphtrial.datasets.custom.library.process import load_in_process
from graphtrial.datasets.custom.manage import import_files
from graphtrial.datasets.dataset import Dataset

KIND = "library"


def import_library(text: str, name: str | None = None, **options: Any) -> Dataset:
    """Load a dataset such as `pyg:Planetoid/Cora` by its library, and register it as `name`.

    The name is `pyg-planetoid-cora` by default. Task, metric, split and licence are the official ones where they are
    known; `options` are those of `import_files`. The name is trusted: its loader downloads and unpickles files.
    """
    source = parse(text)
    options["task"] = options.get("task") or source.entry.task
    if options.get("licence", "not stated") == "not stated":
        options["licence"] = source.entry.licence
    options["title"] = options.get("title") or f"{source.text}, loaded by {source.library_version}"
    with temporary_folder() as temporary:
        files = load_in_process(source, Path(temporary))
        return import_files(name or source.slug, KIND, files, arguments={"source": source.text}, **options)


def is_to_import(name: str) -> bool:
    """Return whether a name is that of a library's dataset which is not imported yet; an invalid one is an error."""
    return is_library_name(name) and recipes.read(parse(name).slug) is None


def find(name: str) -> type[CustomDataset] | None:
    """Resolve `pyg:Planetoid/Cora` to the imported dataset, which is imported now if it was not yet.

    Raises `NotAllowedError` for a dataset to import that the user has not named.
    """
    if not is_library_name(name):
        return None
    source = parse(name)
    recipe = recipes.read(source.slug)
    if recipe is None:
        require_loader(name, LIBRARIES[source.library])
        import_library(name)
        recipe = recipes.read(source.slug)
    if recipe is None or recipe.arguments.get("source") != source.text:
        raise GraphTrialError(
            f"you have a dataset called '{source.slug}' already, which is not {source.text}; import it by another "
            f"name: graphtrial data import {source.text} --name NAME"
        )
    return class_of(recipe)


DATASETS.add_resolver(find)
