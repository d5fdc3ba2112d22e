"""Reader of word vectors in GloVe's text format."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.core.progress import progress
from graphtrial.wikipedia.dumps.streams import blocks


def read_vectors(path: Path, words: Collection[str]) -> tuple[dict[str, int], npt.NDArray[np.float64], dict[str, int]]:
    """Return the row of each word, the vectors [rows, dimensions] as float64, and counts of lines and broken lines.

    A word2vec header (two integers) is skipped. The first vector defines the dimension; lines with fewer numbers or
    invalid ones are broken. Of duplicate words the last is used.
    """
    rows: dict[str, int] = {}
    vectors: list[npt.NDArray[np.float64]] = []
    counts = {"lines": 0, "broken": 0}
    dimension = 0
    for number, line in enumerate(_lines(path)):
        parts = line.rstrip().split(b" ")
        if number == 0 and len(parts) == 2 and all(part.isdigit() for part in parts):
            continue
        counts["lines"] += 1
        dimension = dimension or len(parts) - 1
        word = b" ".join(parts[: len(parts) - dimension]).decode("utf-8", "replace")
        if word and word not in words:
            continue
        try:
            values = np.array(parts[len(parts) - dimension :], np.float64)
        except ValueError:
            values = np.empty(0)
        if not word or len(values) != dimension or not dimension or not np.isfinite(values).all():
            counts["broken"] += 1
        elif word in rows:
            vectors[rows[word]] = values
        else:
            rows[word] = len(vectors)
            vectors.append(values)
    if not dimension:
        raise CorruptFileError(f"{path.name} has no word vectors: lines of a word and its numbers are expected")
    return rows, np.array(vectors, np.float64).reshape(len(vectors), dimension), counts


def _lines(path: Path) -> Iterator[bytes]:
    if not path.is_file():
        raise GraphTrialError(f"there is no file {path}; --glove is a text file of word vectors, plain or .gz")
    rest = b""
    with progress(f"reading {path.name}", path.stat().st_size) as advance:
        for _, block in blocks(path, advance):
            *lines, rest = (rest + block).split(b"\n")
            yield from lines
    if rest.strip():
        yield rest


def mean_vector(tokens: list[str], rows: dict[str, int], vectors: Any) -> npt.NDArray[np.float64]:
    """Return the sum of the vectors of in-vocabulary tokens divided by the number of ALL tokens; zeros without any."""
    in_vocabulary = [rows[token] for token in tokens if token in rows]
    if not in_vocabulary:
        return np.zeros(vectors.shape[1])
    mean: npt.NDArray[np.float64] = vectors[in_vocabulary].sum(axis=0) / len(tokens)
    return mean
