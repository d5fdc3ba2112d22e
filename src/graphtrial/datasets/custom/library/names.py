"""Names of datasets of other libraries, such as `pyg:Planetoid/Cora` or `pyg:ZINC/subset=true`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from graphtrial.core.errors import GraphTrialError, UnknownNameError, did_you_mean
from graphtrial.core.plugins.packages import installed_version
from graphtrial.core.plugins.permissions import LOADER
from graphtrial.core.spec import parse_value
from graphtrial.datasets.custom.library.catalog import LRGB, OGB, Entry

LIBRARIES = {"pyg": "PyG", "ogb": "OGB", "lrgb": "PyG"}
"""Prefixes of names, and the library that loads the dataset."""
PACKAGES = {"pyg": "torch_geometric", "ogb": "ogb", "lrgb": "torch_geometric"}
MAX_LENGTH = 100


@dataclass(frozen=True)
class LibraryName:
    """Parsed name of a dataset: library, dataset or class, and arguments by position and by keyword.

    `entry` has task and licence where they are known from the name.
    """

    text: str
    library: str
    dataset: str
    positional: tuple[Any, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict)
    entry: Entry = field(default_factory=Entry)

    @property
    def library_version(self) -> str:
        """Name and version of the installed library."""
        return " ".join(filter(None, [LIBRARIES[self.library], installed_version(PACKAGES[self.library])]))

    @property
    def slug(self) -> str:
        """Name of the imported dataset, such as `pyg-planetoid-cora`."""
        return re.sub(r"[^a-z0-9_.]+", "-", self.text.lower())[:60]


def is_library_name(text: str) -> bool:
    """Return whether a text begins like the name of a dataset of a library."""
    return text.partition(":")[0] in LIBRARIES and ":" in text


def parse(text: str) -> LibraryName:
    """Parse a name; it becomes a part of paths, so that every part has letters, digits and any of `._+-` only."""
    if not is_library_name(text) or len(text) > MAX_LENGTH or not LOADER.fullmatch(text):
        raise UnknownNameError(
            f"'{text[:MAX_LENGTH]}' names no dataset of a library: write pyg:Planetoid/Cora, pyg:ZINC/subset=true, "
            "ogb:ogbg-molhiv or lrgb:peptides-func"
        )
    library, _, rest = text.partition(":")
    dataset, *arguments = rest.split("/")
    if library != "pyg":
        if arguments:
            raise UnknownNameError(f"'{text}': a dataset of {library} has no arguments; leave out '/{arguments[0]}'")
        return LibraryName(f"{library}:{dataset.lower()}", library, dataset.lower(), entry=_entry(library, dataset))
    positional, keywords = [], {}
    for argument in arguments:
        key, equals, value = argument.rpartition("=")
        if equals:
            keywords[key] = parse_value(value)
        elif keywords:
            raise UnknownNameError(f"'{text}': write '{argument}' before the arguments with a '='")
        else:
            positional.append(argument)
    return LibraryName(text, library, dataset, tuple(positional), keywords)


def _entry(library: str, dataset: str) -> Entry:
    catalog = OGB if library == "ogb" else LRGB
    entry = catalog.get(dataset.lower())
    if entry is None:
        raise UnknownNameError(
            f"{library} has no dataset '{dataset}'.{did_you_mean(dataset, catalog)} Known: {', '.join(catalog)}."
        )
    if entry.refused:
        raise GraphTrialError(f"{library}:{dataset} cannot be imported: {entry.refused}")
    return entry
