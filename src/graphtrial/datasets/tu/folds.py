"""Ten-fold cross-validation: published folds if available, else stratified folds by SHA-256."""

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
    """Return the published folds of a set as strings of one character per graph, empty if there are none.

    From the index files of benchmarking-gnns (Dwivedi et al., MIT licence): `.` train, `v` val, `t` test, in
    the order of the text files; PROTEINS and PROTEINS_full are the same graphs in the same order.
    """
    text = files("graphtrial.datasets.tu").joinpath("folds.csv").read_text(encoding="ascii")
    published = "PROTEINS_full" if name == "PROTEINS" else name
    return tuple(row["parts"] for row in csv.DictReader(io.StringIO(text)) if row["name"] == published)


def parse_folds(folds: tuple[str, ...]) -> list[Split]:
    """Convert strings of `.`, `v` and `t` to splits."""
    parts = [np.array(list(fold)) for fold in folds]
    return [Split(*(np.flatnonzero(part == kind) for kind in ".vt")) for part in parts]


def seeded_folds(name: str, classes: npt.NDArray[np.int64]) -> list[Split]:
    """Return ten stratified splits 8:1:1.

    The graphs of each class are sorted by a SHA-256 of the set's name and their index, and assigned to ten folds in
    round-robin order. Split i tests on fold i and validates on fold i + 5: at that distance their union is stratified
    too. Every graph is in one test and one validation set.
    """
    keys = [hashlib.sha256(f"{name}/{graph}".encode()).digest() for graph in range(len(classes))]
    by_key = np.array(sorted(range(len(classes)), key=keys.__getitem__), dtype=np.int64)
    order = by_key[np.argsort(classes[by_key], kind="stable")]
    fold_of = np.empty(len(classes), np.int64)
    fold_of[order] = np.arange(len(order)) % FOLDS
    splits = []
    for fold in range(FOLDS):
        test, val = fold_of == fold, fold_of == (fold + FOLDS // 2) % FOLDS
        splits.append(Split(np.flatnonzero(~test & ~val), np.flatnonzero(val), np.flatnonzero(test)))
    return splits
