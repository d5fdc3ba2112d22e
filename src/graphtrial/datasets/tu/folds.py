"""Ten folds: the published ones where there are some, else seeded and stratified ones that no library has a say in."""

from __future__ import annotations

import csv
import hashlib
import io
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from graphtrial.datasets.base import Split

FOLDS = 10


@cache
def published_folds(name: str) -> tuple[str, ...]:
    """Return the published folds of a set, each with one character per graph, or nothing.

    From the index files of benchmarking-gnns (Dwivedi et al., MIT licence): `.` is trained on, `v` validates, `t` is
    tested. They are in the order of the text files; PROTEINS and PROTEINS_full are the same graphs in the same order.
    """
    text = files("graphtrial.datasets.tu").joinpath("folds.csv").read_text(encoding="ascii")
    wanted = "PROTEINS_full" if name == "PROTEINS" else name
    return tuple(row["parts"] for row in csv.DictReader(io.StringIO(text)) if row["name"] == wanted)


def splits_of(folds: tuple[str, ...]) -> list[Split]:
    """Return folds of characters as splits."""
    parts = [np.array(list(fold)) for fold in folds]
    return [Split(*(np.flatnonzero(part == kind) for kind in ".vt")) for part in parts]


def seeded_folds(name: str, classes: npt.NDArray[np.int64]) -> list[Split]:
    """Return ten splits 8:1:1 in which every part has each class in its share, to within one graph.

    The graphs of a class, in the order of a SHA-256 of the set's name and their number, are dealt out to ten piles one
    after the other, and so are those of the next class. Fold i tests pile i and validates on pile i + 5: dealt out that
    far apart, two piles together have their share too. Every graph is tested once and validates once.
    """
    keys = [hashlib.sha256(f"{name}/{graph}".encode()).digest() for graph in range(len(classes))]
    by_key = np.array(sorted(range(len(classes)), key=keys.__getitem__), dtype=np.int64)
    order = by_key[np.argsort(classes[by_key], kind="stable")]
    pile = np.empty(len(classes), np.int64)
    pile[order] = np.arange(len(order)) % FOLDS
    made = []
    for fold in range(FOLDS):
        test, val = pile == fold, pile == (fold + FOLDS // 2) % FOLDS
        made.append(Split(np.flatnonzero(~test & ~val), np.flatnonzero(val), np.flatnonzero(test)))
    return made
