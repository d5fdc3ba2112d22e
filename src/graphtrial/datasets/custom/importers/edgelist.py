"""Importer of edge lists: a single graph as a text file of edges and a text file of node labels.

A line of the first has two node names, a line of the second a node name, its class and optionally its split (`train`,
`val`, `test` or `none`, one for each split), separated by spaces, tabs or commas; `#` begins a comment. The nodes are
those of the second file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from graphtrial.core.errors import CorruptFileError, InvalidGraphError
from graphtrial.graphs import Column, GraphSet
from graphtrial.graphs.mask_names import PART, SPLIT
from graphtrial.graphs.masks import part_column


def read(paths: list[Path], both_ways: bool = False) -> GraphSet:
    """Read edges and node labels; classes are numbered in alphabetical order."""
    edges, labels = paths
    number: dict[str, int] = {}
    words: list[str] = []
    parts: list[list[str]] = []
    for line, (node, word, *part) in _lines(labels, 2, None):
        if parts and len(part) != len(parts[0]):
            raise CorruptFileError(f"{labels.name}, line {line}: {len(part)} parts, but {len(parts[0])} before")
        parts.append(part)
        if node in number:
            raise CorruptFileError(f"{labels.name}, line {line}: node '{node}' was named before")
        number[node] = len(number)
        words.append(word)
    if not words:
        raise CorruptFileError(f"{labels.name} names no nodes")
    ends = []
    for line, pair in _lines(edges, 2, 2):
        unknown = [node for node in pair if node not in number]
        if unknown:
            raise CorruptFileError(f"{edges.name}, line {line}: node '{unknown[0]}' is not in {labels.name}")
        ends.append((number[pair[0]], number[pair[1]]))
    links = np.array(ends, np.int64).reshape(-1, 2).T
    if both_ways:
        links = np.concatenate([links, links[::-1, links[0] != links[1]]], axis=1)
    classes, y = np.unique(np.array(words), return_inverse=True)
    columns = {
        "x": Column(np.ones(len(words), np.float32), "node", "constant, because none was given"),
        "y": Column(y.astype(np.int64), "node", "class", types=len(classes)),
    }
    if parts[0]:
        columns[PART] = _part(labels.name, parts, links.shape[1])
    return GraphSet.build([len(words)], [links.shape[1]], links, columns)


def _part(name: str, parts: list[list[str]], edges: int) -> Column:
    words = [part[0] for part in parts] if len(parts[0]) == 1 else parts
    try:
        column = part_column({SPLIT: [words]}, np.array([len(parts)]), np.array([edges]), "node")
    except InvalidGraphError as error:
        raise CorruptFileError(f"{name}: {error}") from error
    if column is None:
        raise CorruptFileError(f"{name} names no parts")
    return column


def _lines(path: Path, least: int, most: int | None) -> Iterator[tuple[int, list[str]]]:
    with path.open("rb") as stream:
        for line, raw in enumerate(stream, start=1):
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                raise CorruptFileError(f"{path.name}, line {line}: no text in UTF-8") from error
            words = text.partition("#")[0].replace(",", " ").split()
            if not words:
                continue
            if len(words) < least or (most is not None and len(words) > most):
                raise CorruptFileError(f"{path.name}, line {line}: two words were expected, here are {len(words)}")
            yield line, words
