"""Importer of edge lists: a single graph as a text file of edges and, except for link prediction, one of node labels.

A line of the first has two node names and optionally a time, a line of the second a node name, its class and optionally
its split (`train`, `val`, `test` or `none`, one for each split), separated by spaces, tabs or commas; `#` begins a
comment. The nodes are those of the second file, or without it those of the first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError, InvalidGraphError
from graphtrial.graphs import Column, GraphSet
from graphtrial.graphs.mask_names import PART, SPLIT
from graphtrial.graphs.masks import part_column

Array = npt.NDArray[Any]


def read(paths: list[Path], both_ways: bool = False) -> GraphSet:
    """Read edges and node labels; classes are numbered in alphabetical order."""
    edges, labels = paths[0], paths[1] if len(paths) > 1 else None
    number: dict[str, int] = {}
    words: list[str] = []
    parts: list[list[str]] = []
    for line, (node, word, *part) in [] if labels is None else _lines(labels, 2, None):
        name = labels.name if labels is not None else ""
        if parts and len(part) != len(parts[0]):
            raise CorruptFileError(f"{name}, line {line}: {len(part)} parts, but {len(parts[0])} before")
        parts.append(part)
        if node in number:
            raise CorruptFileError(f"{name}, line {line}: node '{node}' was named before")
        number[node] = len(number)
        words.append(word)
    if labels is not None and not words:
        raise CorruptFileError(f"{labels.name} names no nodes")
    links, time = _edges(edges, number, None if labels is None else labels.name)
    if both_ways:
        reverse = links[0] != links[1]
        links = np.concatenate([links, links[::-1, reverse]], axis=1)
        time = time if time is None else np.concatenate([time, time[reverse]])
    columns = {"x": Column(np.ones(len(number), np.float32), "node", "constant, because none was given")}
    if labels is not None:
        classes, y = np.unique(np.array(words), return_inverse=True)
        columns["y"] = Column(y.astype(np.int64), "node", "class", types=len(classes))
        if parts[0]:
            columns[PART] = _part(labels.name, parts, links.shape[1])
    if time is not None:
        columns["edge_time"] = Column(time, "edge", "time of the edge")
    return GraphSet.build([len(number)], [links.shape[1]], links, columns)


def _edges(path: Path, number: dict[str, int], labels: str | None) -> tuple[Array, Array | None]:
    """Return edges [2, edges] and times [edges], if any; without a file of labels, the nodes are added to `number`."""
    ends: list[tuple[int, int]] = []
    times: list[float] = []
    for line, (source, target, *time) in _lines(path, 2, 3):
        for node in (source, target):
            if labels is None:
                number.setdefault(node, len(number))
            elif node not in number:
                raise CorruptFileError(f"{path.name}, line {line}: node '{node}' is not in {labels}")
        if ends and bool(time) != bool(times):
            raise CorruptFileError(f"{path.name}, line {line}: a time is given for some edges, but not for all")
        ends.append((number[source], number[target]))
        times += [_number(word, f"{path.name}, line {line}") for word in time]
    return np.array(ends, np.int64).reshape(-1, 2).T, np.array(times) if times else None


def _number(word: str, where: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise CorruptFileError(f"{where}: the time '{word}' is no number")
    return value


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
                wanted = f"at least {least}" if most is None else f"{least} to {most}"
                raise CorruptFileError(f"{path.name}, line {line}: {wanted} words were expected, here are {len(words)}")
            yield line, words
